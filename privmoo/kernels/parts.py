"""How a compiled loop that another one calls is compiled: with its caller, once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import register_pass
from numba.core.registry import CPUDispatcher
from numba.core.typed_passes import NativeLowering

__all__ = ["compile_callees_with_callers"]

_LATEST_TRIED = 0, 68


def compile_callees_with_callers(jit: Any, function: Callable[..., Any]) -> None:
    """Let loops that call this one take in its code, instead of a library that stands alone.

    By itself numba optimises and translates every loop for a call from Python, and then does so once more
    inside every caller, and inside their callers. For regions this was nearly half of the compiler's work.
    A part is neither optimised nor translated nor stored: that happens where Python calls.

    This rests on inner workings of numba. Versions that it was not tried with compile as usual, and so does
    numba without its compiler (`NUMBA_DISABLE_JIT=1`).

    Args:
        jit: The loop as numba compiles it for Python.
        function: The same as Python code.
    """
    if numba.version_info.short > _LATEST_TRIED or not isinstance(jit, CPUDispatcher):
        return
    part = _Part(
        function,
        targetoptions={
            "nopython": True,
            "error_model": "numpy",
            "no_cfunc_wrapper": True,
            "no_cpython_wrapper": True,
        },
        pipeline_class=_PartCompiler,
    )
    jit.get_call_template = _first_that_works(part.get_call_template, jit.get_call_template)
    jit.get_overload = _first_that_works(part.get_overload, jit.get_overload)


def _first_that_works(way: Callable[..., Any], usual_way: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that takes numba's usual way if this version of numba has other inner parts.

    Args:
        way: Compiles a loop as a part of its callers.
        usual_way: Compiles it by itself, as numba does.
    """

    def compile_for_caller(*arguments: Any) -> Any:
        try:
            return way(*arguments)
        except (AttributeError, KeyError, TypeError):
            return usual_way(*arguments)

    return compile_for_caller


class _Part(CPUDispatcher):  # type: ignore[misc]  # numba has no types
    """The specialisations of a loop that other loops call. Python cannot call them."""

    def add_overload(self, result: Any) -> None:
        """Keep a specialisation, out of sight of Python."""
        self.overloads[tuple(result.signature.args)] = result


class _PartCompiler(CompilerBase):  # type: ignore[misc]  # numba has no types
    """The usual steps, except for the last: LLVM's code stays as it was written."""

    def define_pipelines(self) -> list[Any]:
        """Return the steps of compiling."""
        pipeline = DefaultPassBuilder.define_nopython_pipeline(self.state)
        pipeline.add_pass_after(_PartLowering, NativeLowering)
        pipeline.passes = [step for step in pipeline.passes if step[0] is not NativeLowering]
        pipeline.finalize()
        return [pipeline]


@register_pass(mutates_CFG=True, analysis_only=False)
class _PartLowering(NativeLowering):  # type: ignore[misc]  # numba has no types
    """Writes LLVM's code of a part, and tells callers where it is."""

    _name = "part_lowering"

    def run_pass(self, state: Any) -> bool:
        """Write the code of one specialisation."""
        state.library = _PartLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        state.flags.no_compile = True
        super().run_pass(state)
        state.library.finalize()  # what this version of numba does not have is noticed here
        name = object()  # callers find the code by any object, usually the function for Python
        state["cr"] = state["cr"]._replace(cfunc=name)
        state.targetctx.insert_user_function(name, state["cr"].fndesc, [state.library])
        return True


class _PartLibrary(JITCodeLibrary):  # type: ignore[misc]  # numba has no types
    """Code that waits for its callers: linked with what it calls, and that is all."""

    def finalize(self) -> None:
        """Take in the code of the parts that this one calls."""
        self._raise_if_finalized()
        for library in dict.fromkeys(self._linking_libraries):
            if hasattr(self, "_reload_init"):  # older versions of numba have none
                self._reload_init.update(library._reload_init)
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        self._finalized = True
