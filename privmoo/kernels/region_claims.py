"""Boxes that claim tuples: a new region takes the tuples inside it that lose more elsewhere."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from privmoo.kernels.compiled import compiled
from privmoo.kernels.copying import write_into
from privmoo.kernels.random_numbers import uniform
from privmoo.kernels.region_layout import Layout, Limits, Outliers, box_cost, span_cost
from privmoo.kernels.region_partition import (
    Partition,
    cheapest_region,
    close_region,
    free_number,
    insert_tuple,
    is_left_out,
    keeps_limits,
    open_region,
    price_region,
)

__all__ = ["Claims", "Field", "claim", "draw_box", "labels_before", "new_claims", "set_box"]

_FEWEST = 1e-9
_MOST_WIDENED = 6
_TRIED = 8  # attributes, until one is wider and still costs less
_IMPOSSIBLE = 1e300
_SCANNED = 10  # regions are compared with a box in a microsecond, which is about an effort of 1
_LOOKED_AT = 100  # regions are compared with a tuple in that time


class Field(NamedTuple):
    """A partition of a table that claims change, with what every region must keep.

    Attributes:
        layout: The table.
        limits: Limits beside k, and who may be left out.
        cells: The cell of every tuple, which no region may leave.
        partition: The regions.
        k: The least size of a region.
    """

    layout: Layout
    limits: Limits
    cells: NDArray[np.int64]
    partition: Partition
    k: int


class Claims(NamedTuple):
    """A box, what it claims, and how the regions were before.

    Attributes:
        low: The least code of the box, per attribute.
        high: The largest one.
        donors: Regions with tuples that the box claims.
        tuples: These tuples.
        rest: Room for tuples.
        is_claimed: Per tuple, whether it goes to another region; false between moves.
        regions: The regions that a move has changed.
        starts: Where their former tuples begin in `members`; one more at the end.
        members: Their former tuples.
        stamps: Per region, the last move that has changed it.
        numbers: Donors; tuples that are claimed; changed regions; moves; regions that were looked at.
    """

    low: NDArray[np.int64]
    high: NDArray[np.int64]
    donors: NDArray[np.int64]
    tuples: NDArray[np.int64]
    rest: NDArray[np.int64]
    is_claimed: NDArray[np.bool_]
    regions: NDArray[np.int64]
    starts: NDArray[np.int64]
    members: NDArray[np.int64]
    stamps: NDArray[np.int64]
    numbers: NDArray[np.int64]


@compiled()
def new_claims(layout: Layout) -> Claims:
    """Return room for the claims on a table."""
    n, d = layout.codes.shape
    return Claims(
        np.zeros(d, np.int64),
        np.zeros(d, np.int64),
        np.empty(n + 1, np.int64),
        np.empty(n, np.int64),
        np.empty(n, np.int64),
        np.zeros(n, np.bool_),
        np.empty(n + 1, np.int64),
        np.zeros(n + 2, np.int64),
        np.empty(n, np.int64),
        np.full(n + 1, -1, np.int64),
        np.zeros(5, np.int64),
    )


@compiled()
def set_box(
    layout: Layout, claims: Claims, low: NDArray[np.int32], high: NDArray[np.int32]
) -> None:
    """Set the box to a range of codes, or the lowest node over them, of every attribute.

    Args:
        layout: The table.
        claims: Changed: its box.
        low: The least codes.
        high: The largest ones.
    """
    for a in range(len(low)):
        claims.low[a], claims.high[a] = low[a], high[a]
        if layout.is_tree[a]:
            _set_node(layout, claims, a, _node_over(layout, a, low[a], high[a]))


@compiled()
def _node_over(layout: Layout, a: int, low: int, high: int) -> int:
    """Return the lowest node over a range of codes."""
    base = layout.node_starts[a]
    node = base + low  # the first nodes are the codes
    while layout.node_stop[node] <= high:
        node = base + layout.node_parent[node]
    return int(node)


@compiled()
def _set_node(layout: Layout, claims: Claims, a: int, node: int) -> None:
    claims.low[a], claims.high[a] = layout.node_first[node], layout.node_stop[node] - 1


@compiled()
def draw_box(
    layout: Layout, partition: Partition, claims: Claims, t: int, state: NDArray[np.uint64]
) -> bool:
    """Set the box to that of a tuple's region, and narrow it around the tuple in some attributes.

    Args:
        layout: The table.
        partition: The regions.
        claims: Changed: its box.
        t: The tuple.
        state: The source of randomness.

    Returns:
        Whether there is a box that costs less than the region.
    """
    r, d = partition.labels[t], layout.codes.shape[1]
    set_box(layout, claims, partition.low[r], partition.high[r])
    if partition.is_out[r]:
        return True
    wide = 0
    for a in range(d):
        wide += claims.high[a] > claims.low[a]
    if wide == 0:
        return False
    for _ in range(1 + int(uniform(state) ** 2 * 3)):
        place = int(uniform(state) * wide)
        for a in range(d):
            if partition.high[r, a] > partition.low[r, a]:
                if place == 0:
                    _narrow(layout, claims, a, layout.codes[t, a], state)
                place -= 1
    return True


@compiled()
def _narrow(layout: Layout, claims: Claims, a: int, code: int, state: NDArray[np.uint64]) -> None:
    """Narrow the box around a code: to a part of its range, or to the next node below."""
    low, high = claims.low[a], claims.high[a]
    if low == high:
        return
    if not layout.is_tree[a]:
        claims.low[a] = code - int(uniform(state) * (code - low + 1))
        claims.high[a] = code + int(uniform(state) * (high - code + 1))
        return
    base = layout.node_starts[a]
    node, above = base + code, base + layout.node_parent[base + code]
    while layout.node_first[above] > low or layout.node_stop[above] <= high:
        node, above = above, base + layout.node_parent[above]
    _set_node(layout, claims, a, node)


@compiled()
def _widen(layout: Layout, claims: Claims, a: int, state: NDArray[np.uint64]) -> None:
    """Widen the box by some codes on both sides, or to the next node above."""
    low, high = claims.low[a], claims.high[a]
    if layout.is_tree[a]:
        parent = layout.node_parent[_node_over(layout, a, low, high)]
        if parent >= 0:
            _set_node(layout, claims, a, layout.node_starts[a] + parent)
        return
    room = high - low + 2
    claims.low[a] = max(0, low - int(uniform(state) * room))
    claims.high[a] = min(layout.n_codes[a] - 1, high + int(uniform(state) * room))


@compiled()
def _widen_any(layout: Layout, claims: Claims, spare: float, state: NDArray[np.uint64]) -> bool:
    """Widen the box in an attribute where that costs something, and less than what is to spare."""
    for _ in range(_TRIED):
        a = int(uniform(state) * layout.codes.shape[1])
        low, high = claims.low[a], claims.high[a]
        before = span_cost(layout, a, low, high)
        _widen(layout, claims, a, state)
        more = span_cost(layout, a, claims.low[a], claims.high[a]) - before
        if 0.0 < more < spare:
            return True
        claims.low[a], claims.high[a] = low, high
    return False


@compiled()
def _price_now(partition: Partition, outliers: Outliers, r: int) -> float:
    """Return what one record of a region costs: its ranges, or the price of being left out."""
    return float(outliers.price[0] if partition.is_out[r] else partition.costs[r])


@compiled()
def _find(field: Field, claims: Claims, cell: int) -> tuple[int, float, int]:
    """Write the tuples inside the box that lose more where they are, and their regions.

    Returns:
        The size of these tuples, what they gain inside the box, and how many tuples were looked at.
    """
    layout, partition, outliers = field.layout, field.partition, field.limits.outliers
    low, high, d = claims.low, claims.high, layout.codes.shape[1]
    cost = box_cost(layout, low, high)
    donors, number, size, gain, seen = 0, 0, 0, 0.0, 0
    for i in range(partition.numbers[0]):
        r = partition.places[i]
        more = _price_now(partition, outliers, r) - cost
        if more <= _FEWEST or field.cells[partition.heads[r]] != cell:
            continue
        meets = True
        for a in range(d):
            if partition.low[r, a] > high[a] or partition.high[r, a] < low[a]:
                meets = False
                break
        if not meets:
            continue
        former = number
        t = partition.heads[r]
        while t >= 0:
            seen += 1
            inside = True
            for a in range(d):
                code = layout.codes[t, a]
                if code < low[a] or code > high[a]:
                    inside = False
                    break
            if inside:
                claims.tuples[number] = t
                number += 1
                size += layout.sizes[t]
                gain += layout.weights[t] * more
            t = partition.following[t]
        if number > former:
            claims.donors[donors] = r
            donors += 1
    claims.numbers[0], claims.numbers[1] = donors, number
    return size, gain, seen


@compiled()
def _log(field: Field, claims: Claims, r: int) -> float:
    """Note the members of a region that is about to change; return what it loses, once in a move."""
    if claims.stamps[r] == claims.numbers[3]:
        return 0.0
    partition = field.partition
    claims.stamps[r] = claims.numbers[3]
    place = claims.numbers[2]
    end = claims.starts[place]
    claims.regions[place] = r
    loss = 0.0
    if partition.positions[r] >= 0:
        loss = partition.records[r] * _price_now(partition, field.limits.outliers, r)
        t = partition.heads[r]
        while t >= 0:
            claims.members[end] = t
            end += 1
            t = partition.following[t]
    claims.starts[place + 1] = end
    claims.numbers[2] = place + 1
    return loss


@compiled()
def _reopen(field: Field, claims: Claims, place: int) -> None:
    """Give a changed region its former members."""
    layout, partition = field.layout, field.partition
    r = claims.regions[place]
    open_region(partition, r)
    for i in range(claims.starts[place], claims.starts[place + 1]):
        insert_tuple(layout, partition, claims.members[i], r)
    price_region(layout, partition, r)
    partition.is_out[r] = is_left_out(field.limits.outliers, partition.sizes[r])


@compiled()
def _undo(field: Field, claims: Claims) -> None:
    """Give all changed regions their former members."""
    partition = field.partition
    for place in range(claims.numbers[2]):
        if partition.positions[claims.regions[place]] >= 0:
            close_region(partition, claims.regions[place])
    for place in range(claims.numbers[2]):
        if claims.starts[place + 1] > claims.starts[place]:
            _reopen(field, claims, place)


@compiled()
def labels_before(partition: Partition, claims: Claims, labels: NDArray[np.int32]) -> None:
    """Write the region of every tuple before the last move."""
    write_into(labels, partition.labels)
    for place in range(claims.numbers[2]):
        for i in range(claims.starts[place], claims.starts[place + 1]):
            labels[claims.members[i]] = claims.regions[place]


@compiled()
def _take(field: Field, claims: Claims) -> float:
    """Make a region of the tuples that are claimed; return what the changed regions lost before.

    The new region is the last one of those that are changed. Donors without tuples are closed.
    """
    layout, partition, outliers = field.layout, field.partition, field.limits.outliers
    before = 0.0
    claims.numbers[2] = 0
    claims.numbers[3] += 1
    donors = claims.numbers[0]
    for i in range(donors):
        before += _log(field, claims, claims.donors[i])
    new = free_number(partition)
    _log(field, claims, new)
    open_region(partition, new)
    for i in range(claims.numbers[1]):
        claims.is_claimed[claims.tuples[i]] = True
    for place in range(donors):
        r = claims.donors[place]
        was_out = partition.is_out[r]
        if was_out:
            outliers.spare[0] += partition.records[r]
        close_region(partition, r)
        for i in range(claims.starts[place], claims.starts[place + 1]):
            t = claims.members[i]
            if claims.is_claimed[t]:
                insert_tuple(layout, partition, t, new)
                claims.is_claimed[t] = False
                continue
            if partition.positions[r] < 0:
                open_region(partition, r)
                partition.is_out[r] = was_out
            insert_tuple(layout, partition, t, r)
        if partition.positions[r] >= 0:
            price_region(layout, partition, r)
            if was_out:
                outliers.spare[0] -= partition.records[r]
    price_region(layout, partition, new)
    return before


@compiled()
def _give_back(field: Field, claims: Claims, place: int, new: int) -> float:
    """Choose tuples of the new region that make a donor large enough again; return what that costs.

    They are written to `claims.tuples`. It is impossible if the new region would be too small.
    """
    layout, partition, k = field.layout, field.partition, field.k
    r = claims.regions[place]
    size, weight, number = 0, 0, 0
    low, high = partition.low[r].copy(), partition.high[r].copy()
    for i in range(claims.starts[place], claims.starts[place + 1]):
        t = claims.members[i]
        if partition.sizes[r] + size >= k:
            break
        if partition.labels[t] != new:
            continue
        size += layout.sizes[t]
        weight += layout.weights[t]
        claims.tuples[number] = t
        number += 1
        for a in range(len(low)):
            low[a] = min(low[a], layout.codes[t, a])
            high[a] = max(high[a], layout.codes[t, a])
    claims.numbers[1] = number
    if partition.sizes[r] + size < k or partition.sizes[new] - size < k:
        return _IMPOSSIBLE
    records = partition.records[r]
    cost = (records + weight) * box_cost(layout, low, high) - records * partition.costs[r]
    return float(cost - weight * partition.costs[new])


@compiled()
def _move_back(layout: Layout, partition: Partition, claims: Claims, r: int, new: int) -> None:
    """Move the tuples of `_give_back` from the new region to a donor."""
    for i in range(claims.numbers[1]):
        claims.is_claimed[claims.tuples[i]] = True
    number = _list_members(partition, new, claims.rest)
    close_region(partition, new)
    open_region(partition, new)
    for i in range(number):
        t = claims.rest[i]
        insert_tuple(layout, partition, t, r if claims.is_claimed[t] else new)
        claims.is_claimed[t] = False
    price_region(layout, partition, new)
    price_region(layout, partition, r)


@compiled()
def _list_members(partition: Partition, r: int, members: NDArray[np.int64]) -> int:
    """Write the tuples of a region; return how many there are."""
    number = 0
    t = partition.heads[r]
    while t >= 0:
        members[number] = t
        number += 1
        t = partition.following[t]
    return number


@compiled()
def _may_leave(layout: Layout, outliers: Outliers, t: int, price: float) -> bool:
    """Return whether a tuple alone may be left out, and that costs less than a price."""
    weight = layout.weights[t]
    return (
        weight <= outliers.spare[0]
        and is_left_out(outliers, layout.sizes[t])
        and weight * outliers.price[0] < price
    )


@compiled()
def _price_of_spreading(field: Field, claims: Claims, r: int, most: float) -> float:
    """Return the extra loss, about, if every tuple of a region joins the one that it costs least.

    It is impossible if that would be more than `most`.
    """
    layout, partition, outliers = field.layout, field.partition, field.limits.outliers
    total = -partition.records[r] * partition.costs[r]
    t = partition.heads[r]
    while t >= 0:
        claims.numbers[4] += partition.numbers[0]
        target, price = cheapest_region(layout, partition, field.cells, t, r, most - total)
        if _may_leave(layout, outliers, t, price):
            price = layout.weights[t] * outliers.price[0]
        elif target < 0:
            return _IMPOSSIBLE
        total += price
        t = partition.following[t]
    return float(total)


@compiled()
def _spread(field: Field, claims: Claims, r: int) -> float:
    """Move every tuple of a region to the one that it costs least, or leave it out.

    Returns:
        What the regions lost before that are changed now for the first time.
    """
    layout, partition, outliers = field.layout, field.partition, field.limits.outliers
    before = 0.0
    number = _list_members(partition, r, claims.rest)
    close_region(partition, r)
    for i in range(number):
        t = claims.rest[i]
        claims.numbers[4] += partition.numbers[0]
        target, price = cheapest_region(layout, partition, field.cells, t, r, np.inf)
        is_out = _may_leave(layout, outliers, t, price)
        if (
            is_out or target < 0
        ):  # who has nowhere to go is a region too small, and the move is undone
            target = free_number(partition)
            _log(field, claims, target)
            open_region(partition, target)
            partition.is_out[target] = is_out
            outliers.spare[0] -= layout.weights[t] if is_out else 0
        else:
            before += _log(field, claims, target)
        insert_tuple(layout, partition, t, target)
        price_region(layout, partition, target)
    return before


@compiled()
def _repair(field: Field, claims: Claims, most: float) -> tuple[bool, float]:
    """Mend donors that break a limit: they get tuples back, or all of their tuples go elsewhere.

    Returns:
        Whether that costs less than `most`, about, and what the regions lost before that are changed now
        for the first time.
    """
    partition = field.partition
    before, donors = 0.0, claims.numbers[0]
    new = claims.regions[donors]
    for place in range(donors):
        r = claims.regions[place]
        if (
            partition.positions[r] < 0
            or partition.is_out[r]
            or keeps_limits(field.limits, partition, r, field.k)
        ):
            continue
        returned = _IMPOSSIBLE
        if partition.sizes[r] < field.k:
            returned = _give_back(field, claims, place, new)
        spread = _price_of_spreading(field, claims, r, min(returned, most))
        most -= min(returned, spread)
        if most <= _FEWEST:
            return False, before
        if returned < spread:
            _move_back(field.layout, partition, claims, r, new)
        else:
            before += _spread(field, claims, r)
    return True, before


@compiled()
def _price_of_changed(field: Field, claims: Claims) -> float:
    """Return what the changed regions lose, whether they keep the limits or not."""
    partition, total = field.partition, 0.0
    for place in range(claims.numbers[2]):
        r = claims.regions[place]
        if partition.positions[r] >= 0:
            total += partition.records[r] * _price_now(partition, field.limits.outliers, r)
    return total


@compiled()
def _are_kept(field: Field, claims: Claims) -> bool:
    """Return whether all changed regions keep the limits or are left out."""
    partition = field.partition
    for place in range(claims.numbers[2]):
        r = claims.regions[place]
        if partition.positions[r] < 0 or partition.is_out[r]:
            continue
        if not keeps_limits(field.limits, partition, r, field.k):
            return False
    return True


@compiled()
def claim(
    field: Field,
    claims: Claims,
    cell: int,
    ceiling: float,
    most: float,
    state: NDArray[np.uint64],
) -> tuple[float, float]:
    """Let the box claim tuples, if the total loss then rises by less than some limit, or falls.

    A box with too few tuples is widened, as long as it costs less than a ceiling. A region that becomes
    too small, or breaks another limit, gets tuples back or is given up.

    Args:
        field: The regions, changed in place.
        claims: The box.
        cell: The cell of the box.
        ceiling: The largest cost of a box that is widened; 0 for a box that stays as it is.
        most: The loss may rise by less than this.
        state: The source of randomness.

    Returns:
        The change of the loss, 0 if nothing was claimed, and the effort, counted in tuples.
    """
    layout, partition, outliers = field.layout, field.partition, field.limits.outliers
    effort = 2.0
    for widened in range(_MOST_WIDENED + 1):
        if widened:
            spare = ceiling - box_cost(layout, claims.low, claims.high)
            if spare <= 0.0 or not _widen_any(layout, claims, spare, state):
                return 0.0, effort
        size, gain, seen = _find(field, claims, cell)
        effort += 2.0 + partition.numbers[0] / _SCANNED + seen / 64
        if size >= field.k:
            break
    if size < field.k or gain <= _FEWEST:
        return 0.0, effort
    left = outliers.spare[0]
    claims.numbers[4] = 0
    before = _take(field, claims)
    slack = before + most - _price_of_changed(field, claims)
    is_cheap, more = _repair(field, claims, slack)
    change = _price_of_changed(field, claims) - before - more
    effort += claims.starts[claims.numbers[2]] / 4 + claims.numbers[4] / _LOOKED_AT
    is_better = is_cheap and change < most - _FEWEST and outliers.spare[0] >= 0
    if is_better and _are_kept(field, claims):
        return change, effort
    _undo(field, claims)
    outliers.spare[0] = left
    return 0.0, effort
