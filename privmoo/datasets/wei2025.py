"""Results that Wei, Benson, Agor and Capan (2025) published for German credit and Adult."""

from __future__ import annotations

from typing import Literal

import pandas as pd

from privmoo.errors import ProblemError

__all__ = ["wei2025_f1", "wei2025_results"]

Data = Literal["german", "adult"]

_COLUMNS = ("classes", "il", "at_risk_05", "at_risk_075", "at_risk_10", "homogeneity")
# Tables 5 and 6: by k, the rows of k-anonymity (MDAV), Zheng et al. and MO-OBAM with low protection against
# homogeneity attacks, then Zheng et al. and MO-OBAM with high protection.
_RESULTS = {
    "german": {
        5: [
            (149, 0.0166, 940, 790, 570, 50),
            (191, 0.0061, 899, 778, 532, 0),
            (30, 0.0147, 148, 63, 29, 10),
            (46, 0.0209, 268, 109, 16, 0),
            (4, 0.1027, 0, 0, 0, 0),
        ],
        10: [
            (90, 0.0255, 810, 810, 0, 0),
            (101, 0.0106, 860, 860, 0, 0),
            (30, 0.0153, 118, 71, 22, 5),
            (47, 0.0190, 288, 143, 0, 0),
            (4, 0.1027, 0, 0, 0, 0),
        ],
        15: [
            (63, 0.0408, 885, 0, 0, 0),
            (67, 0.0141, 820, 10, 0, 0),
            (30, 0.0153, 106, 40, 40, 3),
            (41, 0.0190, 339, 12, 0, 0),
            (4, 0.1027, 0, 0, 0, 0),
        ],
        20: [
            (49, 0.0545, 0, 0, 0, 0),
            (51, 0.0164, 0, 0, 0, 0),
            (30, 0.0148, 125, 57, 31, 2),
            (40, 0.0195, 10, 10, 0, 0),
            (4, 0.1027, 0, 0, 0, 0),
        ],
    },
    "adult": {
        5: [
            (1232, 0.0010, 5925, 4590, 3050, 5),
            (1066, 0.0006, 5077, 3680, 2280, 0),
            (100, 0.0116, 103, 69, 47, 3),
            (12, 0.1189, 0, 0, 0, 0),
            (4, 0.1074, 0, 0, 0, 0),
        ],
        10: [
            (930, 0.0022, 5080, 5080, 0, 0),
            (895, 0.0013, 4770, 4770, 0, 0),
            (100, 0.0116, 103, 69, 47, 3),
            (12, 0.1251, 0, 0, 0, 0),
            (4, 0.1074, 0, 0, 0, 0),
        ],
        15: [
            (774, 0.0034, 4167, 0, 0, 0),
            (779, 0.0019, 4084, 0, 0, 0),
            (100, 0.0116, 103, 69, 47, 3),
            (14, 0.1201, 0, 0, 0, 0),
            (4, 0.1074, 0, 0, 0, 0),
        ],
        20: [
            (673, 0.0045, 0, 0, 0, 0),
            (733, 0.0025, 0, 0, 0, 0),
            (100, 0.0116, 103, 69, 47, 3),
            (12, 0.1251, 0, 0, 0, 0),
            (4, 0.1074, 0, 0, 0, 0),
        ],
    },
}
_METHODS = (
    ("k-anonymity", "both"),
    ("Zheng et al.", "low"),
    ("MO-OBAM", "low"),
    ("Zheng et al.", "high"),
    ("MO-OBAM", "high"),
)
_MODELS = ("DT", "LR", "NB", "NN", "RF", "SVM")
# Tables 9 and 10, k = 5, and the baselines of Table 8: mean F1 of 100 repetitions.
_F1 = {
    "german": {
        "original": (0.7702, 0.8124, 0.7938, 0.7109, 0.8381, 0.8266),
        "k-anonymity": (0.7690, 0.8156, 0.7934, 0.7147, 0.8412, 0.8252),
        "Zheng et al. (low)": (0.7704, 0.8121, 0.7950, 0.7227, 0.8390, 0.8235),
        "MO-OBAM (low)": (0.7708, 0.8079, 0.7901, 0.7210, 0.8396, 0.8273),
        "Zheng et al. (high)": (0.7690, 0.8092, 0.7969, 0.7151, 0.8358, 0.8226),
        "MO-OBAM (high)": (0.7701, 0.8123, 0.7910, 0.7153, 0.8382, 0.8239),
    },
    "adult": {
        "original": (0.6203, 0.4052, 0.4183, 0.3475, 0.6787, 0.2757),
        "k-anonymity": (0.6208, 0.4070, 0.4202, 0.3517, 0.6786, 0.2743),
        "Zheng et al. (low)": (0.6192, 0.4083, 0.4183, 0.3558, 0.6783, 0.2734),
        "MO-OBAM (low)": (0.6202, 0.4077, 0.4192, 0.3481, 0.6684, 0.2729),
        "Zheng et al. (high)": (0.6238, 0.4050, 0.4186, 0.3494, 0.6689, 0.2732),
        "MO-OBAM (high)": (0.6186, 0.4014, 0.4193, 0.3566, 0.6600, 0.2727),
    },
}


def wei2025_results(data: Data) -> pd.DataFrame:
    """Return Tables 5 (German credit) and 6 (Adult): classes, information loss and records at risk.

    Args:
        data: `"german"` or `"adult"`.

    >>> wei2025_results("german").query("k == 5 and method == 'MO-OBAM'")["il"].tolist()
    [0.0147, 0.1027]
    """
    rows = [
        {
            "k": k,
            "method": method,
            "protection": protection,
            **dict(zip(_COLUMNS, row, strict=True)),
        }
        for k, rows in _RESULTS[_check_data(data)].items()
        for (method, protection), row in zip(_METHODS, rows, strict=True)
    ]
    return pd.DataFrame(rows)


def wei2025_f1(data: Data) -> pd.DataFrame:
    """Return Tables 8 to 10 at k = 5: mean F1 of six classifiers, one row per method.

    Args:
        data: `"german"` or `"adult"`.

    >>> float(wei2025_f1("adult").loc["original", "RF"])
    0.6787
    """
    return pd.DataFrame.from_dict(_F1[_check_data(data)], orient="index", columns=list(_MODELS))


def _check_data(data: str) -> str:
    if data not in _RESULTS:
        raise ProblemError(f"data: must be 'german' or 'adult', got {data!r}")
    return data
