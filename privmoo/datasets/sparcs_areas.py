"""Where the hospitals of SPARCS are: counties, health service areas, regions."""

from __future__ import annotations

__all__ = ["AREAS", "REDACTED", "REGIONS"]

AREAS: dict[str, tuple[str, ...]] = {
    "Western NY": (
        *("Allegany", "Cattaraugus", "Chautauqua", "Erie"),
        *("Genesee", "Niagara", "Orleans", "Wyoming"),
    ),
    "Finger Lakes": (
        *("Chemung", "Livingston", "Monroe", "Ontario", "Schuyler"),
        *("Seneca", "Steuben", "Wayne", "Yates"),
    ),
    "Central NY": (
        *("Cayuga", "Cortland", "Herkimer", "Jefferson", "Lewis", "Madison"),
        *("Oneida", "Onondaga", "Oswego", "St Lawrence", "Tompkins"),
    ),
    "Southern Tier": ("Broome", "Chenango", "Tioga"),
    "Capital/Adirond": (
        *("Albany", "Clinton", "Columbia", "Delaware", "Essex", "Franklin"),
        *("Fulton", "Greene", "Hamilton", "Montgomery", "Otsego", "Rensselaer"),
        *("Saratoga", "Schenectady", "Schoharie", "Warren", "Washington"),
    ),
    "Hudson Valley": (
        *("Dutchess", "Orange", "Putnam", "Rockland"),
        *("Sullivan", "Ulster", "Westchester"),
    ),
    "New York City": ("Bronx", "Kings", "Manhattan", "Queens", "Richmond"),
    "Long Island": ("Nassau", "Suffolk"),
}
"""The counties of every health service area, as SPARCS spells them."""

REGIONS: dict[str, tuple[str, ...]] = {
    "Upstate": ("Western NY", "Finger Lakes", "Central NY", "Southern Tier", "Capital/Adirond"),
    "Downstate": ("Hudson Valley", "New York City", "Long Island"),
}
"""The health service areas of every region."""

REDACTED = "Redacted for Confidentiality"
"""The name of a facility that the state hides, together with its numbers and its county."""
