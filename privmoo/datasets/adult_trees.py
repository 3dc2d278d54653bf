"""Hierarchies for Adult: trees with named nodes, and natural orders.

In a tree, the keys of a dict are nodes, and the entries of a list are values of the data.
"""

from __future__ import annotations

from typing import Any

__all__ = [
    "EDUCATION",
    "INCOME",
    "MARITAL_STATUS",
    "MARITAL_STATUS_2011",
    "NATIVE_COUNTRY",
    "OCCUPATION",
    "PROTOTYPE_TREES",
    "RACE",
    "RELATIONSHIP",
    "SEX",
    "WORKCLASS",
]

WORKCLASS: dict[str, Any] = {
    "Private sector": ["Private"],
    "Government": ["Federal-gov", "State-gov", "Local-gov"],
    "Self-employed": ["Self-emp-inc", "Self-emp-not-inc"],
    "Unpaid": ["Without-pay", "Never-worked"],
}

EDUCATION: dict[str, Any] = {
    "No diploma": {
        "Primary school": ["Preschool", "1st-4th", "5th-6th", "7th-8th"],
        "Some high school": ["9th", "10th", "11th", "12th"],
    },
    "Diploma": {
        "High school": ["HS-grad"],
        "College": ["Some-college", "Assoc-voc", "Assoc-acdm"],
    },
    "Degree": {
        "Undergraduate": ["Bachelors"],
        "Graduate": ["Masters", "Prof-school", "Doctorate"],
    },
}
"""Read from left to right, the leaves are in the order of the column education-num."""

MARITAL_STATUS: dict[str, Any] = {
    "Not married": {
        "Never married": ["Never-married"],
        "No longer married": ["Divorced", "Widowed"],
    },
    "Married": {
        "Spouse absent": ["Separated", "Married-spouse-absent"],
        "Spouse present": ["Married-civ-spouse", "Married-AF-spouse"],
    },
}

MARITAL_STATUS_2011: dict[str, Any] = {
    "Not married": {
        "Never married": ["Never-married"],
        "Once married": ["Divorced", "Widowed", "Separated"],
    },
    "Married": ["Married-spouse-absent", "Married-civ-spouse", "Married-AF-spouse"],
}
"""As the text and Figure 2 of Dewri et al. 2011 have it: people who live separated were once married."""

OCCUPATION: dict[str, Any] = {
    "White-collar": {
        "Management and professions": ["Exec-managerial", "Prof-specialty"],
        "Office, sales and technical": ["Adm-clerical", "Sales", "Tech-support"],
    },
    "Blue-collar": {
        "Craft and machinery": ["Craft-repair", "Machine-op-inspct", "Transport-moving"],
        "Manual and farm work": ["Handlers-cleaners", "Farming-fishing"],
    },
    "Service": {
        "Personal service": ["Other-service", "Priv-house-serv"],
        "Protective service": ["Protective-serv", "Armed-Forces"],
    },
}

RELATIONSHIP: dict[str, Any] = {
    "Spouse": ["Husband", "Wife"],
    "Child or relative": ["Own-child", "Other-relative"],
    "No relative": ["Not-in-family", "Unmarried"],
}

NATIVE_COUNTRY: dict[str, Any] = {
    "Americas": {
        "North America": ["United-States", "Outlying-US(Guam-USVI-etc)", "Canada"],
        "Mexico and Central America": [
            "Mexico",
            "Guatemala",
            "El-Salvador",
            "Honduras",
            "Nicaragua",
        ],
        "Caribbean": [
            "Cuba",
            "Puerto-Rico",
            "Dominican-Republic",
            "Haiti",
            "Jamaica",
            "Trinadad&Tobago",
        ],
        "South America": ["Columbia", "Ecuador", "Peru"],
    },
    "Europe": {
        "British Isles": ["England", "Scotland", "Ireland"],
        "Western Europe": ["France", "Germany", "Holand-Netherlands"],
        "Southern Europe": ["Portugal", "Italy", "Greece"],
        "Eastern Europe": ["Poland", "Hungary", "Yugoslavia"],
    },
    "Asia": {
        "East Asia": ["China", "Hong", "Taiwan", "Japan"],
        "South-East Asia": ["Vietnam", "Laos", "Cambodia", "Thailand", "Philippines"],
        "South and West Asia": ["India", "Iran"],
    },
    # Documented nowhere; it is often taken for South Korea.
    "Unclear": ["South"],
}

RACE = ["Amer-Indian-Eskimo", "Asian-Pac-Islander", "Black", "Other", "White"]
"""Alphabetical, as in the source: no order of the values means anything."""

SEX = ["Female", "Male"]
INCOME = ["<=50K", ">50K"]

PROTOTYPE_TREES: dict[str, list[Any]] = {
    "workclass": [
        "Without-pay",
        "Private",
        ["Self-emp-inc", "Self-emp-not-inc"],
        ["Federal-gov", ["Local-gov", "State-gov"]],
    ],
    "marital-status": [
        ["Never-married", ["Divorced", "Widowed", "Separated"]],
        ["Married-spouse-absent", ["Married-civ-spouse", "Married-AF-spouse"]],
    ],
    "occupation": [
        ["Exec-managerial", "Prof-specialty", "Adm-clerical", "Sales", "Tech-support"],
        [
            "Craft-repair",
            "Machine-op-inspct",
            "Transport-moving",
            "Handlers-cleaners",
            "Farming-fishing",
        ],
        ["Other-service", "Priv-house-serv", "Protective-serv", "Armed-Forces"],
    ],
    "native-country": [
        [
            ["United-States", "Canada", "Outlying-US(Guam-USVI-etc)"],
            [
                "Mexico",
                "Puerto-Rico",
                "Cuba",
                "Jamaica",
                "Dominican-Republic",
                "Haiti",
                "El-Salvador",
                "Guatemala",
                "Honduras",
                "Nicaragua",
                "Trinadad&Tobago",
            ],
            ["Columbia", "Ecuador", "Peru"],
        ],
        [
            ["England", "Ireland", "Scotland", "France", "Germany", "Holand-Netherlands"],
            ["Italy", "Portugal", "Greece"],
            ["Poland", "Hungary", "Yugoslavia"],
        ],
        [
            ["China", "Hong", "Japan", "Taiwan"],
            ["Cambodia", "Laos", "Thailand", "Vietnam", "Philippines"],
            ["India", "Iran"],
        ],
        "South",
    ],
}
"""Other trees over the same values, with unnamed nodes, with which some published fronts of the Dewri
problems were measured. From the root down, a list is a node and a string is a value."""
