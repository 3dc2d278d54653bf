"""Results that Majeed and Hwang (2023) published, for comparison."""

from __future__ import annotations

import pandas as pd

__all__ = ["majeed2023_results"]

_METHODS = ("hybrid", "k-anonymity", "SVD3DR", "RKA")
_DATA = {"A": "Adult", "B": "Bkseq", "C": "Careplans"}
# Table III, in per cent.
_ORIGINALITY = {"A": (80.01, 0, 0, 0), "B": (61.88, 0, 0, 0), "C": (40.51, 0, 0, 0)}
# Table IV, by k.
_RISK = {
    "A": {
        2: (0.50, 0.50, 0.50, 0.50),
        5: (0.45, 0.61, 0.58, 0.60),
        10: (0.41, 0.81, 0.69, 0.71),
        20: (0.35, 0.71, 0.54, 0.55),
        30: (0.41, 0.60, 0.50, 0.51),
        40: (0.46, 0.65, 0.60, 0.61),
        50: (0.52, 0.68, 0.63, 0.66),
    },
    "B": {
        2: (0.50, 0.50, 0.50, 0.50),
        5: (0.60, 0.82, 0.75, 0.80),
        10: (0.51, 0.72, 0.68, 0.70),
        20: (0.55, 0.78, 0.73, 0.75),
        30: (0.66, 0.78, 0.71, 0.76),
        40: (0.61, 0.80, 0.76, 0.78),
        50: (0.62, 0.79, 0.72, 0.76),
    },
    "C": {
        2: (0.50, 0.50, 0.50, 0.50),
        5: (0.35, 0.51, 0.42, 0.44),
        10: (0.41, 0.48, 0.45, 0.46),
        20: (0.42, 0.51, 0.44, 0.46),
        30: (0.50, 0.58, 0.55, 0.56),
        40: (0.52, 0.57, 0.54, 0.55),
        50: (0.53, 0.66, 0.64, 0.66),
    },
}
# Table V: means over those k.
_MEAN_RISK = {
    "A": (0.44, 0.65, 0.57, 0.59),
    "B": (0.57, 0.74, 0.69, 0.72),
    "C": (0.46, 0.54, 0.51, 0.52),
}
# Table VI: both partitions.
_LOSS_OTHER = {
    "A": (0.72, 2.02, 1.78, 0.98),
    "B": (0.86, 3.33, 2.16, 1.85),
    "C": (0.81, 2.60, 2.09, 1.95),
}
_LOSS_VIOLATING = {
    "A": (1.27, 2.66, 2.04, 1.54),
    "B": (1.19, 3.52, 2.57, 2.19),
    "C": (1.45, 3.83, 3.16, 2.49),
}
# Table VII: the first number is that of the original data.
_ACCURACY = {
    "A": (0.91, 0.87, 0.67, 0.77, 0.74),
    "B": (0.92, 0.91, 0.75, 0.85, 0.81),
    "C": (0.82, 0.78, 0.64, 0.71, 0.68),
}
# Table VIII.
_SECONDS = {
    "A": (21.48, 142.05, 90.34, 129.23),
    "B": (69.53, 191.34, 122.31, 152.34),
    "C": (141.94, 276.12, 163.35, 184.19),
}


def majeed2023_results() -> pd.DataFrame:
    """Return Tables III to VIII of the paper, a row for every published number.

    Returns:
        data (Adult, Bkseq or Careplans), table, measure (originality as a share, disclosure risk, mean
        disclosure risk, loss of the other and of the violating partition, accuracy, seconds), method, k
        (if one is given) and value.

    >>> found = majeed2023_results()
    >>> adult = found[(found["data"] == "Adult") & (found["measure"] == "originality")]
    >>> adult.set_index("method")["value"].to_dict()
    {'hybrid': 0.8001, 'k-anonymity': 0.0, 'SVD3DR': 0.0, 'RKA': 0.0}
    """
    rows: list[tuple[str, str, str, str, int | None, float]] = []
    for key, data in _DATA.items():
        plain = (
            ("III", "originality", _METHODS, [share / 100 for share in _ORIGINALITY[key]]),
            ("V", "mean disclosure risk", _METHODS, _MEAN_RISK[key]),
            ("VI", "loss, other partition", _METHODS, _LOSS_OTHER[key]),
            ("VI", "loss, violating partition", _METHODS, _LOSS_VIOLATING[key]),
            ("VII", "accuracy", ("original", *_METHODS), _ACCURACY[key]),
            ("VIII", "seconds", _METHODS, _SECONDS[key]),
        )
        for table, measure, methods, values in plain:
            rows += [
                (data, table, measure, method, None, value)
                for method, value in zip(methods, values, strict=True)
            ]
        for k, risks in _RISK[key].items():
            rows += [
                (data, "IV", "disclosure risk", method, k, value)
                for method, value in zip(_METHODS, risks, strict=True)
            ]
    columns = pd.Index(["data", "table", "measure", "method", "k", "value"])
    return pd.DataFrame(rows, columns=columns).astype({"k": "Int64", "value": "float64"})
