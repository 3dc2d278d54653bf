"""Data frames of other libraries: read as pandas, and returned as what they were."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import pandas as pd

from privmoo.errors import PrivmooError, TableError

if TYPE_CHECKING:
    from narwhals.typing import IntoDataFrame

__all__ = ["AnyFrame", "as_pandas", "backend_of", "is_frame", "to_backend"]


class ArrowStream(Protocol):
    """Anything that hands out its rows as Arrow data."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Return a capsule with the rows."""


AnyFrame: TypeAlias = "pd.DataFrame | IntoDataFrame | ArrowStream"
"""A data frame of pandas, of a library that narwhals knows, or of one that hands out Arrow data."""

PANDAS = "pandas"
ARROW = "pyarrow"


def backend_of(data: object) -> str:
    """Return the library of a data frame, such as `"polars"`.

    Anything else that hands out Arrow data, such as a DuckDB relation, counts as `"pyarrow"`.

    >>> backend_of(pd.DataFrame({"age": [31]}))
    'pandas'
    """
    if isinstance(data, pd.DataFrame):
        return PANDAS
    import narwhals as nw

    frame = nw.from_native(data, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        return str(frame.implementation.value)
    return ARROW


def is_frame(data: object) -> bool:
    """Return whether something is a data frame that `as_pandas` reads, or a lazy one."""
    if isinstance(data, pd.DataFrame) or hasattr(data, "__arrow_c_stream__"):
        return True
    import narwhals as nw

    return isinstance(nw.from_native(data, pass_through=True), nw.DataFrame | nw.LazyFrame)


def as_pandas(
    data: object, *, what: str = "data", error: type[PrivmooError] = TableError
) -> pd.DataFrame:
    """Return a data frame as pandas holds it; one of pandas is returned as it is.

    Whole numbers stay whole where some are missing. An index that another library has is left out.

    Args:
        data: A data frame of any library that narwhals knows, or an object with
            `__arrow_c_stream__`.
        what: The name of the argument, for messages.
        error: The class of the error.

    Raises:
        PrivmooError: It is something else, or a lazy frame.

    >>> import pyarrow as pa
    >>> as_pandas(pa.table({"age": [31, None]})).dtypes.astype(str).to_dict()
    {'age': 'Int64'}
    """
    if isinstance(data, pd.DataFrame):
        return data
    import narwhals as nw

    if not is_frame(data):
        raise error(
            f"{what}: must be a data frame of pandas, polars, pyarrow or another library that hands out "
            f"Arrow data, got {type(data).__name__}"
        )
    frame = nw.from_native(data, pass_through=True)
    if isinstance(frame, nw.LazyFrame) and not hasattr(data, "__arrow_c_stream__"):
        library = frame.implementation.value
        instead = "scan it with Table.scan" if library == "dask" else "collect it first"
        raise error(f"{what}: a lazy frame of {library} has no rows yet; {instead}")
    if isinstance(frame, nw.DataFrame) and frame.implementation.is_pandas_like():
        return frame.to_pandas().reset_index(drop=True)
    arrow: Any = frame.to_arrow() if isinstance(frame, nw.DataFrame) else data
    return _from_arrow(arrow, what, error)


def to_backend(frame: pd.DataFrame, backend: str) -> Any:
    """Return a pandas frame as a data frame of a library.

    Args:
        frame: The rows; their index is left out.
        backend: The library, as `backend_of` names it.

    Raises:
        TableError: A column mixes kinds of values, which Arrow does not hold.
    """
    if backend == PANDAS:
        return frame
    import narwhals as nw
    import pyarrow as pa

    try:
        arrow = pa.Table.from_pandas(frame, preserve_index=False)
    except (pa.ArrowException, TypeError, ValueError):  # its text may quote a value
        raise TableError(
            f"a column has values that {backend} cannot hold; convert it to numbers, text or dates"
        ) from None
    arrow = arrow.replace_schema_metadata(None)
    library: Any = backend
    return nw.from_arrow(arrow, backend=library).to_native()


def _from_arrow(data: Any, what: str, error: type[PrivmooError]) -> pd.DataFrame:
    import pyarrow as pa

    try:
        table = pa.table(data)
        names = table.column_names
        twice = [name for name in names if names.count(name) > 1]
        if twice:
            raise error(f"{what}: column name {twice[0]!r} occurs more than once; rename one")
        columns = {name: _column(table.column(name)) for name in names}
    except (pa.ArrowException, TypeError, ValueError) as failure:  # its text may quote a value
        raise error(f"{what}: pandas cannot hold it ({type(failure).__name__})") from None
    return pd.DataFrame(columns)


def _column(values: Any) -> pd.Series[Any]:
    """Return a column of Arrow; one of whole numbers with missing values is not made one of fractions."""
    import pyarrow as pa

    kind = values.type
    if values.null_count and pa.types.is_integer(kind):
        name = str(kind).replace("uint", "UInt") if str(kind)[0] == "u" else str(kind).capitalize()
        return pd.Series(values.to_pandas(types_mapper={kind: pd.api.types.pandas_dtype(name)}.get))
    if values.null_count and pa.types.is_boolean(kind):
        return pd.Series(values.to_pandas(types_mapper={kind: pd.BooleanDtype()}.get))
    return pd.Series(values.to_pandas())
