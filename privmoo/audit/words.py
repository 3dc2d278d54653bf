"""Words for figures: how reports call them, and a sentence on how to read each."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["how_to_read", "words_for"]

_FIGURES: dict[str, tuple[str, str]] = {
    "n_records": ("records", ""),
    "n_groups": ("groups", "Records that agree in all quasi-identifiers form a group."),
    "k": (
        "smallest group (k)",
        "So many records, or more, agree in all released quasi-identifiers.",
    ),
    "weighted_k": (
        "group of an average person",
        "The size of the group of a person drawn at random; larger is more private.",
    ),
    "average_k": ("average group size", "Records per group; larger is more private."),
    "uniqueness": ("people alone in their group", "The share of records that can be singled out."),
    "prosecutor_risk": (
        "risk of being picked out",
        "The chance to pick the right record of a group, 1 over its size; smaller is more private.",
    ),
    "journalist_risk": (
        "risk in the population",
        "The same among all people of the population, of whom the table is a part.",
    ),
    "marketer_risk": (
        "share an attacker matches",
        "The share of records that somebody who matches all of them gets right on average.",
    ),
    "at_risk": (
        "records at risk",
        "Records in groups so small that the chance to pick the right one is above tau.",
    ),
    "homogeneity": (
        "people whose value is told by their group",
        "Records in groups where all have the same sensitive value; smaller is more private.",
    ),
    "distinct_l": ("fewest values in a group", "1 means that some group has one sensitive value."),
    "entropy_l": ("fewest values in a group, by entropy", "As before; rare values count less."),
    "l": (
        "diversity (ℓ)",
        "The smallest group size over the count of the group's most frequent value; 1 is the worst.",
    ),
    "alpha": ("largest share of a value in a group (α)", "1 means that a group has one value."),
    "t": (
        "distance from all records (t)",
        "How far a group's values are from those of all records, 0 to 1; smaller is more private.",
    ),
    "beta": (
        "largest gain in knowledge (β)",
        "How much more frequent a value is in a group than in all records, relatively.",
    ),
    "delta": ("largest disclosure (δ)", "The same as a logarithm, in both directions."),
    "values_alike": ("values that look alike", ""),
    "loss": ("loss", "The share of detail that is gone: 0 as it was, 1 nothing left."),
    "generalization_loss": ("loss without suppression", "The same for the released records alone."),
    "loss_geometric": ("loss, geometric mean", "The same with a geometric mean over columns."),
    "il": (
        "information loss",
        "The distance of released numbers and values from the original ones.",
    ),
    "suppression": ("share left out", "The share of the original records that is not released."),
    "discernibility": (
        "discernibility",
        "Every record counts the size of its group; smaller tells more apart.",
    ),
    "discernibility_star": ("discernibility of the released records", ""),
    "aecs": ("average class size", "Original records per group; 1 is as detailed as can be."),
    "transparency": (
        "transparency",
        "Cells, each by the share of its label that it is; more is better.",
    ),
    "ambiguity": (
        "ambiguity",
        "Every record counts the combinations of values that it may have had; smaller is better.",
    ),
    "nonuniform_entropy": (
        "loss of information in bits",
        "Bits needed to guess the original values from the released ones; smaller is better.",
    ),
    "precision": ("mean level over height", "How far up their hierarchies values went, 0 to 1."),
    "distortion": ("distortion", "The same with the weights of the columns."),
    "originality": ("cells as they were", "The share of cells that hold their original value."),
    "classification": (
        "misclassified records",
        "Records whose target is not the most frequent one of their group.",
    ),
}


def words_for(name: str) -> str:
    """Return how a report calls a figure.

    >>> words_for("aecs"), words_for("a_new_one")
    ('average class size', 'a new one')
    """
    return _FIGURES.get(name, (name.replace("_", " "), ""))[0]


def how_to_read(names: Iterable[str]) -> list[tuple[str, str]]:
    """Return the words of figures with a sentence on how to read each; those without one are left out.

    >>> how_to_read(["k", "n_records"])
    [('smallest group (k)', 'So many records, or more, agree in all released quasi-identifiers.')]
    """
    known = (_FIGURES[name] for name in dict.fromkeys(names) if name in _FIGURES)
    return [(words, sentence) for words, sentence in known if sentence]
