"""Laplace noise in SQL: every record draws its own, with any number of threads."""

from __future__ import annotations

from dataclasses import dataclass

from privmoo.data.noise import BITS, RowNoise
from privmoo.engines.duckdb.names import text_of

__all__ = ["NoiseColumn", "noise_sql"]


@dataclass(frozen=True)
class NoiseColumn:
    """The parts of a query that the noise of a column needs.

    Attributes:
        number: The position of the column among the quasi-identifiers.
        value: The expression of the number without noise.
        row: The table that has the scale `n…` and the salt `h…` of the column, by its number.
        place: An expression that identifies records by their position.
    """

    number: int
    value: str
    row: str
    place: str


def noise_sql(noise: RowNoise, column: NoiseColumn, secret: str) -> str:
    """Return the expression of a column's numbers with noise.

    The distribution is that of `privmoo.data.noise`; the draws come from another hash.

    Args:
        noise: The noise of the column.
        column: The parts of the query that the noise needs.
        secret: The secret of the noise.
    """
    scale, salt = f"{column.row}.n{column.number}", f"{column.row}.h{column.number}"
    text = text_of(f"{secret}|{column.number}")
    key = f"md5_number_upper(concat({text}, '|', {salt}, '|', {column.place}))"
    uniform = f"((CAST({key} >> {64 - BITS} AS DOUBLE) + 0.5::DOUBLE) / {2.0**BITS!r}::DOUBLE)"
    draw = f"(CASE WHEN {uniform} < 0.5 THEN ln(2 * {uniform}) ELSE -ln(2 * (1 - {uniform})) END)"
    step, low, high = (f"{number!r}::DOUBLE" for number in (noise.step, noise.low, noise.high))
    total = f"{column.value} + round({draw} * ({scale} / {step})) * {step}"
    result = f"greatest({low}, least({high}, round({total}, {noise.digits}))) + 0.0::DOUBLE"
    return f"CAST({result} AS BIGINT)" if noise.whole else result
