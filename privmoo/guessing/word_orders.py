"""Natural orders of words: grades, months, low to high, ranges such as 20-29."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable

__all__ = ["in_order"]

_LADDERS = """
low, medium, high
very low, low, medium, high, very high
low, moderate, high
low, mid, high
low, middle, high
minor, moderate, major, extreme
mild, moderate, severe, critical
none, mild, moderate, severe
small, medium, large
xs, s, m, l, xl, xxl
never, rarely, seldom, sometimes, often, usually, always
strongly disagree, disagree, neutral, agree, strongly agree
very poor, poor, fair, average, good, very good, excellent
niedrig, mittel, hoch
gering, mittel, hoch
klein, mittel, gross
leicht, mittel, schwer
nie, selten, manchmal, oft, immer
bas, moyen, eleve
faible, moyen, fort
bajo, medio, alto
young, middle, old
child, adolescent, adult, senior
january, february, march, april, may, june, july, august, september, october, november, december
jan, feb, mar, apr, may, jun, jul, aug, sep, oct, nov, dec
januar, februar, marz, april, mai, juni, juli, august, september, oktober, november, dezember
janvier, fevrier, mars, avril, mai, juin, juillet, aout, septembre, octobre, novembre, decembre
enero, febrero, marzo, abril, mayo, junio, julio, agosto, septiembre, octubre, noviembre, diciembre
monday, tuesday, wednesday, thursday, friday, saturday, sunday
mon, tue, wed, thu, fri, sat, sun
montag, dienstag, mittwoch, donnerstag, freitag, samstag, sonntag
lundi, mardi, mercredi, jeudi, vendredi, samedi, dimanche
lunes, martes, miercoles, jueves, viernes, sabado, domingo
spring, summer, autumn, winter
a, b, c, d, e, f
i, ii, iii, iv, v, vi, vii, viii, ix, x
first, second, third, fourth, fifth, sixth
primary, secondary, tertiary
none, primary, secondary, university
elementary school, middle school, high school, college, university
high school, bachelor, master, phd
high school, bachelor, master, doctorate
bachelor, master, doctor
hauptschule, realschule, gymnasium, hochschule
preschool, 1st-4th, 5th-6th, 7th-8th, 9th, 10th, 11th, 12th, hs-grad, some-college, assoc-voc, \
assoc-acdm, bachelors, masters, prof-school, doctorate
"""
_RUNGS = [[rung.strip() for rung in line.split(",")] for line in _LADDERS.strip().splitlines()]
_UNKNOWN = frozenset(
    ["unknown", "?", "n/a", "na", "not stated", "no answer", "unbekannt", "inconnu", "desconocido"]
)
_NOTHING = frozenset(["none", "no", "nothing", "unemployed", "keine", "aucun", "ninguno"])
_NUMBER = r"[$€£]?\s*(\d{1,3}(?:,\d{3})+|\d{1,12}(?:\.\d{1,6})?)(?:st|nd|rd|th)?\s*(k?)"
_BETWEEN = re.compile(
    rf"[\[(]?\s*{_NUMBER}\s*(?:-|–|to|bis|a|<=?\s*x\s*<=?|,|\.\.)\s*{_NUMBER}\s*[\])]?(?: [a-z]+)?"
)
_BELOW = re.compile(rf"(?:<=?|≤|under|below|less than|up to|unter|bis)\s*{_NUMBER}(?: [a-z]+)?")
_ABOVE = re.compile(rf"(?:>=?|≥|over|above|more than|ab|uber)\s*{_NUMBER}(?: [a-z]+)?")
_AND_MORE = re.compile(rf"{_NUMBER}\s*(?:\+|(?:or|and|und) [a-z]+)(?: [a-z]+)?")
_ALONE = re.compile(rf"{_NUMBER}(?: [a-z]+)?")
_LONGEST = 40


def in_order(values: Iterable[str]) -> list[str] | None:
    """Return values in their natural order, unknown ones last; None if there is no such order.

    >>> in_order(["high", "low", "medium"])
    ['low', 'medium', 'high']
    >>> in_order(["70 or Older", "0 to 17", "18 to 29", "?"])
    ['0 to 17', '18 to 29', '70 or Older', '?']
    >>> in_order(["unemployed", ">=7", "1<=X<4", "<1", "4<=X<7"])
    ['unemployed', '<1', '1<=X<4', '4<=X<7', '>=7']
    >>> in_order(["red", "green"])
    """
    plain = {value: value.strip().lower() for value in values}
    unknown = sorted(value for value, text in plain.items() if text in _UNKNOWN)
    words = {value: text for value, text in plain.items() if text not in _UNKNOWN}
    if len(words) < 2 or len(set(words.values())) < len(words):
        return None
    for rungs in _RUNGS:
        if set(words.values()) <= set(rungs):
            return sorted(words, key=lambda value: rungs.index(words[value])) + unknown
    places = {value: _place(text) for value, text in words.items()}
    ranges = {value: place for value, place in places.items() if place is not None}
    if len(ranges) < len(words) or len(set(ranges.values())) < len(words):
        return None
    if all(low == high for low, high in ranges.values() if math.isfinite(high)):
        return None if len(ranges) > 50 else sorted(ranges, key=lambda v: ranges[v]) + unknown
    return sorted(ranges, key=lambda value: ranges[value]) + unknown


def _place(text: str) -> tuple[float, float] | None:
    """Return where a range begins and ends."""
    if len(text) > _LONGEST:
        return None
    if text in _NOTHING:
        return -math.inf, -math.inf
    if match := _BETWEEN.fullmatch(text):
        low, high = _number(match[1], match[2]), _number(match[3], match[4])
        return (low, high) if low <= high else None
    if match := _BELOW.fullmatch(text):
        return -math.inf, _number(match[1], match[2])
    if match := _ABOVE.fullmatch(text) or _AND_MORE.fullmatch(text):
        return _number(match[1], match[2]), math.inf
    if match := _ALONE.fullmatch(text):
        return (number := _number(match[1], match[2])), number
    return None


def _number(digits: str, thousands: str) -> float:
    return float(digits.replace(",", "")) * (1000 if thousands else 1)
