"""Pictures of a study: the same numbers as its tables, the same colour for a solver everywhere."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import to_hex

import privmoo as pm
from tests.scenery.compare import CHANCE, SMALL, good, hopeless, study


def test_convergence_ends_at_the_medians_of_the_tables() -> None:
    found = study([SMALL, CHANCE], seeds=4)
    medians = found.summary().set_index("solver")["hypervolume"]
    for line in pm.plot.convergence_of(found).lines:
        assert line.median[-1] == medians[line.name]
        assert line.median[-1] == np.median(found.values("Cuts", "hypervolume")[line.name])


def test_a_solver_has_one_colour_in_every_picture() -> None:
    found = study({"none": hopeless, "small": SMALL, "own": good})
    boxes = found.plot_indicator()
    by_box = [to_hex(patch.get_facecolor()) for patch in boxes.patches]
    drawn = found.plot_convergence()
    by_line = {
        str(line.get_label()).split(" ")[0]: to_hex(line.get_color()) for line in drawn.get_lines()
    }
    assert [by_line["none"], by_line["small"], by_line["own"]] == by_box
    attained = found.plot_attainment()
    legend = attained.get_legend()
    assert legend is not None
    by_name = {
        text.get_text().split(":")[0]: to_hex(handle.get_color())
        for text, handle in zip(legend.get_texts(), legend.get_lines(), strict=False)
    }
    assert by_name["small"] == by_line["small"] and by_name["own"] == by_line["own"]
    first, second = found.plot_attainment_difference("own", "small")
    shades = []
    for ax in (first, second):
        legend = ax.get_legend()
        assert legend is not None
        shades.append(to_hex(legend.get_patches()[0].get_facecolor()))
    assert shades == [by_line["own"], by_line["small"]]
    plt.close("all")
