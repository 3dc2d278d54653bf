"""Words for figures: how reports call them, and a sentence on how to read each."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["how_to_read", "words_for"]

_FIGURES: dict[str, tuple[str, str]] = {
    "n_records": ("records", ""),
    "n_groups": ("groups", "Records that agree in all quasi-identifiers form a group."),
    "k": (
        "smallest group (k)",
        "Every record shares all released quasi-identifiers with at least k - 1 others.",
    ),
    "km": (
        "fewest who agree in m columns",
        "Whoever knows any m of the columns of a person finds at least so many released records.",
    ),
    "confidence": (
        "largest share of a value among them",
        "1 means that some m columns reveal a value; smaller is more private.",
    ),
    "weighted_k": (
        "group of an average person",
        "The size of the group of a person drawn at random; larger is more private.",
    ),
    "average_k": ("average group size", "Records per group; larger is more private."),
    "uniqueness": (
        "share of records alone in their group",
        "A record that is alone in its group can be singled out; smaller is more private.",
    ),
    "prosecutor_risk": (
        "risk of being picked out",
        "The chance of picking the right record of a group, 1 over its size; smaller is more private.",
    ),
    "journalist_risk": (
        "risk in the population",
        "The same for a group of the whole population, of which the table is a part.",
    ),
    "marketer_risk": (
        "share an attacker matches",
        "The share of records that an attacker who tries to match all of them gets right on average.",
    ),
    "at_risk": (
        "records at risk",
        "Records in groups so small that the chance of picking the right one is above tau.",
    ),
    "homogeneity": (
        "value revealed by the group",
        "Records in groups whose members all have the same sensitive value; smaller is more private.",
    ),
    "distinct_l": (
        "fewest values in a group",
        "1 means that some group has only one sensitive value.",
    ),
    "entropy_l": ("fewest values in a group, by entropy", "The same, but rare values count less."),
    "l": (
        "diversity (ℓ)",
        "The smallest ratio of a group's size to the count of its most frequent value; 1 is the worst.",
    ),
    "alpha": (
        "largest share of a value in a group (α)",
        "1 means that some group has only one value.",
    ),
    "t": (
        "distance from all records (t)",
        "How far the values of a group are from those of all records, 0 to 1; smaller is more private.",
    ),
    "beta": (
        "largest gain in knowledge (β)",
        "How much more frequent a value is in a group than in all records, as a ratio minus 1.",
    ),
    "delta": (
        "largest disclosure (δ)",
        "The logarithm of that ratio, whether the value is more or less frequent.",
    ),
    "values_alike": ("values that look alike", ""),
    "loss": (
        "loss",
        "The share of detail that is gone: 0 means unchanged, 1 means that nothing is left.",
    ),
    "generalization_loss": ("loss without suppression", "The same for the released records alone."),
    "loss_geometric": ("loss, geometric mean", "The same with a geometric mean over columns."),
    "il": (
        "information loss",
        "The distance of released numbers and values from the original ones.",
    ),
    "suppression": ("share left out", "The share of the original records that is not released."),
    "discernibility": (
        "discernibility",
        "The size of every record's group, summed over records; smaller tells more of them apart.",
    ),
    "discernibility_star": ("discernibility before suppression", ""),
    "aecs": ("average class size", "Original records per group; 1 is the most detailed."),
    "transparency": (
        "transparency",
        "1 over the number of values that a label covers, summed over cells; larger is better.",
    ),
    "ambiguity": (
        "ambiguity",
        "How many combinations of values a record may have had, summed over records; smaller is better.",
    ),
    "nonuniform_entropy": (
        "loss of information in bits",
        "Bits needed to guess the original values from the released ones; smaller is better.",
    ),
    "precision": (
        "mean level over height",
        "How far up their hierarchies the values were generalised, 0 to 1.",
    ),
    "distortion": ("distortion", "The same with the weights of the columns."),
    "originality": ("cells as they were", "The share of cells that hold their original value."),
    "classification": (
        "misclassified records",
        "Records whose target is not the most frequent one of their group.",
    ),
}
_OF_ATTRIBUTE = {"homogeneity": "share of records whose group reveals the value"}


def words_for(name: str, *, of_attribute: bool = False) -> str:
    """Return how a report calls a figure.

    Args:
        name: The name of the figure.
        of_attribute: Whether the figure is about one sensitive attribute and not about all of them.

    >>> words_for("aecs"), words_for("a_new_one")
    ('average class size', 'a new one')
    """
    if of_attribute and name in _OF_ATTRIBUTE:
        return _OF_ATTRIBUTE[name]
    return _FIGURES.get(name, (name.replace("_", " "), ""))[0]


def how_to_read(names: Iterable[str]) -> list[tuple[str, str]]:
    """Return the words of figures with a sentence on how to read each; those without one are left out.

    >>> how_to_read(["n_groups", "n_records"])
    [('groups', 'Records that agree in all quasi-identifiers form a group.')]
    """
    entries = (_FIGURES[name] for name in dict.fromkeys(names) if name in _FIGURES)
    return [(words, sentence) for words, sentence in entries if sentence]
