"""Invented hospital discharges in the form of SPARCS: no record is a real one.

Columns and values are spelled as in New York's export of 2016. How often values occur, alone and
together, is roughly plausible and no more: enough to try methods, not to learn anything about
New York. Hospitals, their numbers and all amounts are made up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from privmoo._util.checks import whole_number
from privmoo.datasets.sparcs_areas import AREAS, REDACTED
from privmoo.errors import TableError

__all__ = ["facilities", "sparcs_like"]

Codes = NDArray[np.int64]

_COLUMNS = (
    *("Health Service Area", "Hospital County", "Operating Certificate Number", "Facility Id"),
    *("Facility Name", "Age Group", "Zip Code - 3 digits", "Gender", "Race", "Ethnicity"),
    *("Length of Stay", "Type of Admission", "Patient Disposition", "Discharge Year"),
    *("CCS Diagnosis Code", "CCS Diagnosis Description"),
    *("CCS Procedure Code", "CCS Procedure Description"),
    *("APR DRG Code", "APR DRG Description", "APR MDC Code", "APR MDC Description"),
    *("APR Severity of Illness Code", "APR Severity of Illness Description"),
    *("APR Risk of Mortality", "APR Medical Surgical Description"),
    *("Payment Typology 1", "Payment Typology 2", "Payment Typology 3", "Birth Weight"),
    *("Abortion Edit Indicator", "Emergency Department Indicator"),
    *("Total Charges", "Total Costs"),
)
AGES = ("0 to 17", "18 to 29", "30 to 49", "50 to 69", "70 or Older")
DEGREES = ("Minor", "Moderate", "Major", "Extreme")
RACES = ("White", "Black/African American", "Other Race", "Multi-racial")
ETHNICITIES = ("Not Span/Hispanic", "Spanish/Hispanic", "Unknown", "Multi-ethnic")
ADMISSIONS = ("Emergency", "Elective", "Urgent", "Trauma", "Newborn")

# Weight, the three-digit ZIP codes most patients come from, county.
_COUNTIES = """
180 100,112,104 Manhattan|85 112,113 Kings|80 114,113,111 Queens|78 104 Bronx|20 103 Richmond
77 115,110,117 Nassau|68 117,119 Suffolk|58 105,107,108 Westchester|19 109 Rockland
16 109,125 Orange|12 125,126 Dutchess|5 124 Ulster|2 127 Sullivan|2 105 Putnam
41 121,122,120 Albany|10 123,120 Schenectady|7 128 Warren|5 121,120 Rensselaer|5 138 Otsego
4 129 Clinton|3 129 Franklin|3 124,125 Columbia|3 128 Saratoga|2 120,133 Montgomery|1 133 Fulton
37 132,130 Onondaga|8 134,135 Oneida|6 148,130 Tompkins|4 136 Jefferson|3 136 St Lawrence
2 130 Cayuga|2 130,134 Madison|2 130 Cortland|1 133 Herkimer|18 137,139,138 Broome
29 146,144,145 Monroe|7 149,148 Chemung|5 148 Steuben|4 144,145 Ontario|1 145 Wayne|1 144 Livingston
67 142,140,141 Erie|6 143,140,141 Niagara|4 147 Cattaraugus|4 147,140 Chautauqua|2 148 Allegany
2 145 Wyoming|1 140 Genesee
"""
_GROUPS = {
    "1 M 45": "CVA & precerebral occlusion w infarct",
    "4 M 133": "Respiratory Failure",
    "4 M 139": "Other pneumonia",
    "4 M 140": "Chronic obstructive pulmonary disease",
    "4 M 141": "Asthma",
    "5 M 190": "Acute myocardial infarction",
    "5 M 194": "Heart failure",
    "5 M 198": "Angina pectoris & coronary atherosclerosis",
    "5 M 201": "Cardiac arrhythmia & conduction disorders",
    "5 M 204": "Syncope & collapse",
    "6 S 225": "Appendectomy",
    "6 M 244": "Diverticulitis & diverticulosis",
    "6 M 247": "Intestinal obstruction",
    "6 M 253": "Other & unspecified gastrointestinal hemorrhage",
    "7 S 263": "Laparoscopic cholecystectomy",
    "7 M 282": "Disorders of pancreas except malignancy",
    "8 S 302": "Knee joint replacement",
    "8 S 308": "Hip and femur fracture repair",
    "9 M 383": "Cellulitis & other skin infections",
    "10 M 420": "Diabetes",
    "10 M 425": "Electrolyte disorders except hypovolemia related",
    "11 M 460": "RENAL FAILURE",
    "11 M 463": "Kidney & urinary tract infections",
    "14 S 540": "Cesarean delivery",
    "14 M 560": "Vaginal delivery",
    "15 M 640": "Neonate birthwt >2499g, normal newborn or neonate w other problem",
    "16 M 663": "Other anemia & disorders of blood & blood-forming organs",
    "18 M 720": "Septicemia & disseminated infections",
    "19 M 750": "Schizophrenia",
    "19 M 751": "Major depressive disorders & other/unspecified psychoses",
    "19 M 756": "Acute anxiety & delirium states",
    "20 M 773": "Opioid abuse & dependence",
    "20 M 775": "Alcohol abuse & dependence",
}
"""The MDC, whether it is medical or surgical, the code and the description of each APR DRG."""

_MDC = {
    1: "Diseases and Disorders of the Nervous System",
    4: "Diseases and Disorders of the Respiratory System",
    5: "Diseases and Disorders of the Circulatory System",
    6: "Diseases and Disorders of the Digestive System",
    7: "Diseases and Disorders of the Hepatobiliary System and Pancreas",
    8: "Diseases and Disorders of the Musculoskeletal System and Conn Tissue",
    9: "Diseases and Disorders of the Skin, Subcutaneous Tissue and Breast",
    10: "Endocrine, Nutritional and Metabolic Diseases and Disorders",
    11: "Diseases and Disorders of the Kidney and Urinary Tract",
    14: "Pregnancy, Childbirth and the Puerperium",
    15: "Newborns and Other Neonates with Conditions Originating in the Perinatal Period",
    16: "Diseases and Disorders of Blood, Blood Forming Organs and Immunological Disorders",
    18: "Infectious and Parasitic Diseases, Systemic or Unspecified Sites",
    19: "Mental Diseases and Disorders",
    20: "Alcohol/Drug Use and Alcohol/Drug Induced Organic Mental Disorders",
}
_PROCEDURES = {
    0: "NO PROC",
    45: "PERC TRANSLUM COR ANGIO",
    47: "DX CARDIAC CATHETERIZTN",
    80: "APPENDECTOMY",
    84: "CHOLECYSTECTOMY/EXPLOR",
    115: "CIRCUMCISION",
    134: "CESAREAN SECTION",
    137: "OT PRCS TO ASSIST DELIV",
    146: "TRTMNT,FRAC HIP/FEMUR",
    152: "ARTHROPLASTY KNEE",
    216: "RESP INTUB/MECH VENTIL",
    218: "PSYCHO/PSYCHI EVAL/THER",
    219: "ALCO/DRUG REHAB/DETOX",
    222: "BLOOD TRANSFUSION",
}
# CCS code, APR DRG, CCS procedure, usual days, weight in each age group, description.
_DIAGNOSES = """
218 640 115 2 75 0 0 0 0 Liveborn
2 720 0 8 2 2 4 11 17 Septicemia (except in labor)
657 751 218 8 5 9 6 5 1 Mood disorders
659 750 218 12 1 5 8 4 1 Schizophrenia and other psychotic disorders
651 756 218 4 1 2 2 1 1 Anxiety disorders
660 775 219 4 0 3 8 8 1 Alcohol-related disorders
661 773 219 5 0 8 6 3 0 Substance-related disorders
122 139 0 5 3 1 2 4 8 Pneumonia (except that caused by tuberculosis or sexually transmitted disease)
127 140 0 5 0 0 1 6 6 Chronic obstructive pulmonary disease and bronchiectasis
128 141 0 3 6 2 3 3 1 Asthma
131 133 216 7 1 0 1 3 4 Respiratory failure; insufficiency; arrest (adult)
100 190 45 4 0 0 2 5 5 Acute myocardial infarction
101 198 47 3 0 0 1 5 4 Coronary atherosclerosis and other heart disease
106 201 0 3 0 1 2 4 8 Cardiac dysrhythmias
108 194 0 6 0 0 2 6 9 Congestive heart failure; nonhypertensive
109 45 0 6 0 0 1 4 5 Acute cerebrovascular disease
245 204 0 2 0 1 1 1 4 Syncope
142 225 80 2 3 4 3 2 1 Appendicitis and other appendiceal conditions
145 247 0 5 0 1 2 3 3 Intestinal obstruction without hernia
146 244 0 4 0 1 3 4 3 Diverticulosis and diverticulitis
153 253 222 4 0 1 1 3 5 Gastrointestinal hemorrhage
149 263 84 4 0 3 4 4 3 Biliary tract disease
152 282 0 5 0 2 4 3 1 Pancreatic disorders (not diabetes)
203 302 152 3 0 0 2 10 8 Osteoarthritis
226 308 146 6 0 0 0 1 6 Fracture of neck of femur (hip)
197 383 0 4 3 3 5 5 4 Skin and subcutaneous tissue infections
50 420 0 4 2 5 5 5 2 Diabetes mellitus with complications
55 425 0 4 4 1 2 4 6 Fluid and electrolyte disorders
157 460 0 6 0 0 2 4 6 Acute and unspecified renal failure
159 463 0 4 2 2 2 3 6 Urinary tract infections
59 663 222 3 1 2 2 3 3 Deficiency and other anemia
181 560 137 2 1 7 5 0 0 Other complications of pregnancy
183 540 134 4 0 3 5 0 0 Hypertension complicating pregnancy; childbirth and the puerperium
185 560 137 2 0 8 9 0 0 Prolonged pregnancy
189 540 134 3 0 6 8 0 0 Previous C-section
191 560 137 2 0 4 5 0 0 Polyhydramnios and other problems of amniotic cavity
192 560 137 2 0 5 3 0 0 Umbilical cord complication
193 560 137 2 0 8 6 0 0 OB-related trauma to perineum and vulva
195 560 137 2 0 9 8 0 0 Other complications of birth; puerperium affecting management of mother
"""
_RACE_BY_REGION = {  # else upstate
    "New York City": (38, 26, 34, 2),
    "Long Island": (61, 17, 21, 1),
    "Hudson Valley": (64, 15, 20, 1),
}
_ETHNICITY_BY_RACE = ((90, 7, 2, 1), (92, 3, 4, 1), (57, 30, 12, 1), (71, 14, 8, 7))
_SEVERITY_BY_AGE = (
    (60, 27, 10, 3),
    (54, 36, 8, 2),
    (38, 43, 17, 2),
    (25, 43, 26, 6),
    (14, 40, 35, 11),
)
_RISK_BY_SEVERITY = ((94, 6, 0, 0), (67, 27, 6, 0), (17, 38, 41, 4), (0, 6, 31, 63))
_ADMISSION = {"birth": (0, 0, 0, 0, 1), "delivery": (30, 48, 22, 0, 0), "planned": (6, 90, 4, 0, 0)}
_PAYMENTS = {  # weight in each age group
    "Medicaid": (57, 54, 46, 32, 3),
    "Medicare": (0, 2, 5, 31, 89),
    "Private Health Insurance": (22, 21, 24, 15, 3),
    "Blue Cross/Blue Shield": (16, 16, 17, 13, 2),
    "Self-Pay": (3, 4, 5, 5, 1),
    "Managed Care, Unspecified": (1, 1, 1, 1, 0),
    "Federal/State/Local/VA": (0, 1, 1, 2, 1),
    "Miscellaneous/Other": (1, 1, 1, 1, 1),
}
_DISPOSITIONS = {  # weight in each age group
    "Home or Self Care": (930, 910, 820, 670, 400),
    "Home w/ Home Health Services": (40, 50, 90, 150, 200),
    "Skilled Nursing Home": (0, 5, 10, 60, 260),
    "Left Against Medical Advice": (0, 20, 50, 30, 5),
    "Short-term Hospital": (20, 8, 10, 20, 30),
    "Inpatient Rehabilitation Facility": (0, 4, 5, 20, 25),
    "Psychiatric Hospital or Unit of Hosp": (3, 3, 5, 3, 2),
    "Hospice - Home": (0, 0, 1, 5, 15),
    "Hospice - Medical Facility": (0, 0, 1, 6, 15),
    "Facility w/ Custodial/Supportive Care": (1, 1, 2, 3, 5),
    "Another Type Not Listed": (1, 1, 2, 3, 3),
}


@dataclass(frozen=True)
class _County:
    """Roughly how often values occur in the discharges of one small county, as weights."""

    ages: tuple[int, ...]
    zips: dict[str, int]
    races: tuple[int, ...]


# An export begins with the county of Allegany, so whoever takes its first rows has these people.
_ONE_COUNTY = {
    "Allegany": _County(
        ages=(23, 17, 12, 21, 27),
        zips={"148": 72, "147": 23, "OOS": 4, "145": 1},
        races=(985, 9, 5, 1),
    )
}


def facilities() -> pd.DataFrame:
    """Return the hospitals of `sparcs_like`, all invented, with the county and area of each.

    >>> facilities()["Facility Name"].iloc[0]
    'Invented Hospital 1 of Manhattan'
    """
    area_of = {county: area for area, counties in AREAS.items() for county in counties}
    rows: list[tuple[object, ...]] = []
    for place, (weight, _, county) in enumerate(_counties(), start=1):
        for i in range(1 + weight // 25):
            area, name = area_of[county], f"Invented Hospital {i + 1} of {county}"
            rows.append((area, county, 100_000 * place + i, 90_001 + len(rows), name))
    names = ["Health Service Area", "Hospital County", "Operating Certificate Number"]
    return pd.DataFrame(rows, columns=[*names, "Facility Id", "Facility Name"])


def sparcs_like(n_records: int = 1000, seed: int = 0, *, county: str | None = None) -> pd.DataFrame:
    """Invent hospital discharges, with the columns and spellings of New York's SPARCS.

    No row is a real patient's. Diagnoses depend on age, sex on the diagnosis, ZIP code on the
    county, race on the area, severity on age, risk and stay on severity, payment and disposition
    on age. About one record in two hundred has its hospital redacted, and some lack a ZIP code.

    Args:
        n_records: The number of records.
        seed: Equal seeds give equal records.
        county: `"Allegany"`, the county with which an export begins, for records of one small county:
            one hospital, few ZIP codes, and nearly everybody is white. By default the whole state.

    >>> frame = sparcs_like(200, seed=1)
    >>> frame.shape, set(frame["Gender"]) == {"F", "M"}
    ((200, 34), True)
    """
    n_records = whole_number("n_records", n_records, error=TableError)
    if county is not None and county not in _ONE_COUNTY:
        names = ", ".join(map(repr, _ONE_COUNTY))
        raise TableError(f"county: only {names} can be invented by itself, got {county!r}")
    place = None if county is None else _ONE_COUNTY[county]
    rng = np.random.default_rng(seed)
    ages = (16, 11, 20, 28, 25) if place is None else place.ages
    age = _draw(rng, [ages], np.zeros(n_records, dtype=np.int64))
    columns = {**_places(rng, n_records, county), "Age Group": _names_of_codes(AGES, age)}
    columns |= _diagnosis(rng, age)
    columns |= _person(rng, age, columns, None if place is None else place.races)
    columns |= _stay(rng, age, columns)
    _redact(rng, columns)
    frame = pd.DataFrame(columns)[list(_COLUMNS)]
    return frame.astype({name: object for name in frame if frame[name].dtype == "str"})


def _counties() -> list[tuple[int, list[str], str]]:
    parts = [part.split(" ", 2) for part in _COUNTIES.strip().replace("\n", "|").split("|")]
    return [(int(weight), zips.split(","), county) for weight, zips, county in parts]


def _draw(rng: np.random.Generator, weights: Any, row: Codes) -> Codes:
    """Draw one choice for every record, by the weights in its row."""
    table = np.asarray(weights, dtype=np.float64)
    bounds = np.cumsum(table / table.sum(axis=1, keepdims=True), axis=1)[:, :-1]
    passes = rng.random(len(row))[:, None] >= bounds[row]
    return np.asarray(passes.sum(axis=1), dtype=np.int64)


def _names_of_codes(names: Sequence[object], codes: Codes) -> NDArray[Any]:
    labels: NDArray[Any] = np.array(names, dtype=object)[codes]
    return labels


def _places(
    rng: np.random.Generator, n: int, one_county: str | None = None
) -> dict[str, NDArray[Any]]:
    counties, hospitals = _counties(), facilities()
    weights = [weight if one_county in (None, name) else 0 for weight, _, name in counties]
    county = _draw(rng, [weights], np.zeros(n, dtype=np.int64))
    n_hospitals = np.array([1 + weight // 25 for weight, _, _ in counties])
    first = np.cumsum(n_hospitals) - n_hospitals
    hospital = first[county] + (rng.random(n) * n_hospitals[county]).astype(np.int64)
    columns = {str(name): hospitals[name].to_numpy()[hospital] for name in hospitals}
    if one_county is not None:
        shares = _ONE_COUNTY[one_county].zips
        code = _draw(rng, [list(shares.values())], np.zeros(n, dtype=np.int64))
        return {**columns, "Zip Code - 3 digits": _names_of_codes(list(shares), code)}
    area = columns["Health Service Area"]
    # Most patients live near, some elsewhere in the area, a few outside the state.
    nearby = {
        name: [z for _, zips, c in counties if c in AREAS[name] for z in zips] for name in AREAS
    }
    where, pick = rng.random(n), rng.random(n)
    zips = []
    for i in range(n):
        nearest_zips = counties[county[i]][1] if where[i] < 0.85 else nearby[area[i]]
        zips.append("OOS" if where[i] > 0.97 else nearest_zips[int(pick[i] * len(nearest_zips))])
    return {**columns, "Zip Code - 3 digits": np.array(zips, dtype=object)}


def _diagnosis(rng: np.random.Generator, age: Codes) -> dict[str, NDArray[Any]]:
    lines = [line.split(" ", 9) for line in _DIAGNOSES.strip().splitlines()]
    numbers = np.array([[int(part) for part in line[:9]] for line in lines])
    cases = _draw(rng, numbers[:, 4:].T, age)
    code, group, procedure, days = numbers[cases, :4].T
    groups = {int(key.split()[2]): (key.split(), text) for key, text in _GROUPS.items()}
    mdc = np.array([int(groups[g][0][0]) for g in group])
    procedure = np.where(rng.random(len(age)) < 0.75, procedure, 0)
    return {
        "CCS Diagnosis Code": code,
        "CCS Diagnosis Description": _names_of_codes([line[9] for line in lines], cases),
        "CCS Procedure Code": procedure,
        "CCS Procedure Description": np.array([_PROCEDURES[p] for p in procedure], dtype=object),
        "APR DRG Code": group,
        "APR DRG Description": np.array([groups[g][1] for g in group], dtype=object),
        "APR MDC Code": mdc,
        "APR MDC Description": np.array([_MDC[m] for m in mdc], dtype=object),
        "APR Medical Surgical Description": np.array(
            ["Surgical" if groups[g][0][1] == "S" else "Medical" for g in group], dtype=object
        ),
        "Length of Stay": days,
    }


def _person(
    rng: np.random.Generator,
    age: Codes,
    columns: dict[str, NDArray[Any]],
    races: tuple[int, ...] | None = None,
) -> dict[str, NDArray[Any]]:
    n, mdc = len(age), columns["APR MDC Code"]
    regions = list(_RACE_BY_REGION)
    region = [
        regions.index(a) if a in regions else len(regions) for a in columns["Health Service Area"]
    ]
    upstate = (80, 8, 10, 2) if races is None else races
    race = _draw(rng, [*_RACE_BY_REGION.values(), upstate], np.array(region))
    women = (mdc == 14) | (rng.random(n) < 0.48)
    payments = np.array(list(_PAYMENTS.values())).T
    names = list(_PAYMENTS)
    second, third = rng.random(n) < 0.6, rng.random(n) < 0.4
    second_payment = _names_of_codes(names, _draw(rng, payments, age))
    return {
        "Gender": np.where(women, "F", "M").astype(object),
        "Race": _names_of_codes(RACES, race),
        "Ethnicity": _names_of_codes(ETHNICITIES, _draw(rng, _ETHNICITY_BY_RACE, race)),
        "Payment Typology 1": _names_of_codes(names, _draw(rng, payments, age)),
        "Payment Typology 2": np.where(second, second_payment, np.nan),
        "Payment Typology 3": _names_of_codes([np.nan, "Self-Pay"], 1 * (second & third)),
    }


def _stay(
    rng: np.random.Generator, age: Codes, columns: dict[str, NDArray[Any]]
) -> dict[str, NDArray[Any]]:
    n, mdc = len(age), columns["APR MDC Code"]
    severity = _draw(rng, _SEVERITY_BY_AGE, age)
    planned = np.isin(columns["APR DRG Code"], (302,))
    kind = np.select([mdc == 15, mdc == 14, planned], [0, 1, 2], 3)
    admission = _draw(rng, [*_ADMISSION.values(), (86, 7, 6, 1, 0)], kind)
    emergency = rng.random(n) < np.array([0.83, 0.0, 0.3, 0.9, 0.0])[admission]
    usual = columns["Length of Stay"] * np.array([0.7, 0.9, 1.3, 2.4])[severity]
    days = np.clip(np.rint(rng.gamma(2.0, usual / 2.0)), 1, 120).astype(np.int64)
    died = rng.random(n) < np.array([0.0, 0.003, 0.02, 0.2])[severity]
    home = _draw(rng, np.array(list(_DISPOSITIONS.values())).T, age)
    weight = np.clip(np.rint(rng.normal(33, 5, n)), 5, 52).astype(np.int64) * 100
    charges = np.round(9000 * days**0.8 * rng.lognormal(0.0, 0.6, n), 2)
    return {
        "Length of Stay": days,
        "Type of Admission": _names_of_codes(ADMISSIONS, admission),
        "Patient Disposition": np.where(
            died, "Expired", _names_of_codes(list(_DISPOSITIONS), home)
        ),
        "Discharge Year": np.full(n, 2016),
        "APR Severity of Illness Code": severity + 1,
        "APR Severity of Illness Description": _names_of_codes(DEGREES, severity),
        "APR Risk of Mortality": _names_of_codes(DEGREES, _draw(rng, _RISK_BY_SEVERITY, severity)),
        "Birth Weight": np.where(mdc == 15, weight, 0),
        "Abortion Edit Indicator": np.full(n, "N", dtype=object),
        "Emergency Department Indicator": np.where(emergency, "Y", "N").astype(object),
        "Total Charges": charges,
        "Total Costs": np.round(charges * rng.uniform(0.2, 0.5, n), 2),
    }


def _redact(rng: np.random.Generator, columns: dict[str, Any]) -> None:
    """Hide some hospitals and ZIP codes as the state does."""
    n = len(columns["Age Group"])
    is_hidden, homeless = rng.random(n) < 0.005, rng.random(n) < 0.015
    for name in ("Operating Certificate Number", "Facility Id"):
        columns[name] = pd.array(columns[name], dtype="Int64")
        columns[name][is_hidden] = pd.NA
        if not is_hidden.any():
            columns[name] = columns[name].astype("int64")
    for name in ("Health Service Area", "Hospital County"):
        columns[name] = np.where(is_hidden, np.nan, columns[name])
    columns["Facility Name"] = np.where(is_hidden, REDACTED, columns["Facility Name"])
    zips = columns["Zip Code - 3 digits"]
    columns["Zip Code - 3 digits"] = np.where(is_hidden | homeless, np.nan, zips)
