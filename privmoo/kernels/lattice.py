"""A sweep of all vectors of levels that groups coarser vectors from the groups of finer ones.

Quasi-identifiers are taken in stages, each of a few. Within a stage every combination of levels is grouped
from the groups that the stage was entered with; the next stage is entered with the result. So a group is
made from groups, never from records, and the many combinations of the last stages work on few groups.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from privmoo.kernels.compiled import compiled
from privmoo.kernels.rolling import (
    DENSE,
    Cells,
    Combination,
    Prefix,
    RolledGroups,
    Stages,
    enter,
    number_of,
    roll,
    room_for,
)
from privmoo.kernels.stairs import (
    Best,
    Details,
    SizeTally,
    Terms,
    by_size,
    has_promising_step,
    is_hopeless,
    judge_in_detail,
    judge_stairs,
    write_needs,
)
from privmoo.kernels.value_rules import fewest_to_suppress, segment_values

__all__ = ["sweep"]


class _Scratch(NamedTuple):
    """Working memory: keys of groups, and records and costs of what they become."""

    keys: NDArray[np.uint32]
    records: NDArray[np.int64]
    costs: NDArray[np.float64]
    owners: NDArray[np.int64]


@compiled()
def sweep(
    stages: Stages,
    best: Best,
    cells: Cells,
    used: int,
    first: int,
    last: int,
    terms: Terms,
    counters: NDArray[np.int64],
) -> int:
    """Visit every node whose first stage has an entry from `first` to before `last`.

    A node's release for threshold d publishes the groups of at least d records; the others cost
    `terms.price` per record. Every node and every threshold that suppresses at most `terms.most_suppressed`
    records is compared with `best`: by cost alone, or with `terms.all_limits` by cost and suppressed
    records.

    Bound (only without `all_limits`). Fix the levels of the first stages. Every completion refines the
    groups of the completion that generalises all other columns completely, whose sizes are known. So in any
    completion with threshold d, a record in such a coarse group of fewer than d records is suppressed and
    costs `price`; any other record costs at least what the fixed levels cost it, or `price`, which is not
    less. Both sums depend on d only at the coarse sizes, and rise with d, as does `best.floor`. If at each
    coarse size the bound is not below the floor, nothing below this prefix can enter the front, and the
    prefix is left out.

    Bound by the rest (Russian dolls; Verfaillie, Lemaître and Schiex 1996). A release with k has at least
    k published records in every group of the columns that are not fixed, and suppressed records lose all
    of these columns. So they cost at least `terms.rests`, the best that these columns reach by
    themselves, and the fixed columns cost at least the sum above, with their own part of the price. A
    prefix is left out as well if the two together are not below the floor for any k.

    Bound of a set (Bayardo and Agrawal 2005, for a whole front). A set of partitions of one column is
    given by what all its members keep apart, and by what some member keeps apart. Every member refines
    the former, so groups are at most as large as its groups; every member is refined by the latter, so a
    record costs at least what it costs there. With these two, the bounds above hold for all members at
    once, and the set is left out as a prefix is. Bits are decided one after another: a set has two
    members, those with a bit and those without.

    Bound by values. A demand on sensitive values is monotone if merging groups that satisfy it gives a
    group that does. A coarse group that breaks it must then lose records in every completion; if all of
    them together must lose more than `terms.most_suppressed`, the prefix or set is left out.

    `counters` gets visited nodes, nodes left out, groups looked at, and the last mark in `cells`;
    another thread can stop the sweep by the fifth, and it stops itself when as many nodes were visited as
    the sixth says, if that is not negative. No set may begin before `last` and end after it.
    Returns how many entries of `best` are used; a negative number if its room was too small or the sweep
    was stopped, after which it is incomplete.
    """
    n_stages = len(stages.n_combos)
    n_tuples = len(stages.weights)
    n_records = stages.weights.sum()
    entry, rolled = room_for(n_stages, n_tuples), room_for(1, n_tuples)
    fixed_costs = np.zeros((n_stages, n_tuples))
    n_columns = len(terms.weights)
    fixed_columns = np.zeros((n_stages, n_tuples if n_columns else 1, n_columns))
    detailed = n_columns > 0 or len(terms.rules.kinds) > 0
    monotone = terms.rules.monotone.any() and not terms.all_limits
    n_entry = np.zeros(n_stages, np.int64)
    n_fixed = np.ones(n_stages, np.int64)
    combo = np.zeros(n_stages, np.int64)
    below = np.ones(n_stages + 1, np.int64)
    for s in range(n_stages - 1, -1, -1):
        below[s] = below[s + 1] * stages.n_lists[s]
    mark = counters[3]
    needs = np.empty((n_stages + 1, n_records + 1))
    used_before = -1
    tally = SizeTally(
        np.zeros(n_records + 1, np.int64), np.zeros(n_records + 1), np.empty(n_tuples, np.int64)
    )
    scratch = _Scratch(
        np.empty(n_tuples, np.uint32),
        np.empty(n_tuples, np.int64),
        np.empty(n_tuples),
        np.empty(n_tuples if detailed else 0, np.int64),
    )
    s = 0
    combo[0] = first - 1
    for i in range(n_tuples):
        entry.fixed[0, i] = 0
        entry.codes[0, i] = stages.suffix_codes[i]
        entry.rests[0, i] = stages.suffix_nexts[i]
        entry.records[0, i] = stages.weights[i]
    n_entry[0] = n_tuples
    while True:
        # The next combination of this stage, or back to the stage before.
        combo[s] += 1
        if combo[s] >= (last if s == 0 else stages.n_combos[s]):
            s -= 1
            if s < 0:
                counters[3] = mark
                return used
            continue
        if counters[4] != 0:
            counters[3] = mark
            return -1
        if used > used_before and s == 0 and not terms.all_limits:
            used_before = used
            for stage in range(n_stages + 1):
                write_needs(best.floor, terms.rests[stage], terms.least_k, needs[stage])
        at = stages.combo_offsets[s] + combo[s]
        combination = Combination(
            stages.maps[stages.map_offsets[at] :],
            stages.costs[stages.block_offsets[at] :],
            stages.n_blocks[at],
            stages.column_costs[stages.column_offsets[at] :],
            stages.first_columns[s + 1] - stages.first_columns[s] if n_columns else 0,
        )
        prefix = Prefix(s, n_entry[s], n_fixed[s])
        counters[2] += n_entry[s]
        mark += 1
        if stages.skips[at] > 0:
            if terms.all_limits:
                continue
            n_new = _bounds_of_set(entry, prefix, fixed_costs[s], combination, cells, mark, scratch)
            hopeless = is_hopeless(
                scratch.records[:n_new],
                scratch.costs[:n_new],
                tally,
                terms,
                s + 1,
                best.floor,
                needs[s + 1],
            )
            if monotone and not hopeless:
                mark += 1
                owners = scratch.owners[: n_entry[s]]
                n_new = _number_groups(entry, prefix, combination, cells, mark, owners)
                coarse = Prefix(s, n_entry[s], n_new)
                least = _must_suppress(stages, entry, coarse, owners, terms)
                hopeless = least > terms.most_suppressed
            if hopeless:
                counters[1] -= below[s + 1] * stages.lists[at]
                combo[s] += stages.skips[at]
            continue
        if s == n_stages - 1:
            if counters[0] == counters[5]:
                counters[4] = 1
                counters[3] = mark
                return -1
            counters[0] += 1
            if used + n_entry[s] > len(best.nexts):
                counters[3] = mark
                return -1
            n_sizes = _sizes_of_node(
                entry, prefix, fixed_costs[s], combination, cells, mark, scratch, tally
            )
            node = 0
            for stage in range(n_stages):
                place = stages.lists[stages.combo_offsets[stage] + combo[stage]]
                node = int(node * stages.n_lists[stage] + place)
            if not detailed:
                used = judge_stairs(n_sizes, tally, terms, node, best, used)
            elif has_promising_step(n_sizes, tally, terms, best):
                mark += 1
                details = _details_of_node(
                    entry,
                    prefix,
                    fixed_columns[s],
                    combination,
                    cells,
                    mark,
                    scratch.owners,
                    tally.sizes[:n_sizes],
                    terms,
                )
                used = judge_in_detail(n_sizes, tally, details, terms, node, best, used)
            continue
        n_rests = stages.n_suffixes[s + 1]
        count = roll(entry, prefix, combination, n_rests, cells, mark, scratch.keys, rolled)
        mark += 1
        n_new = enter(
            rolled,
            count,
            prefix,
            fixed_costs,
            fixed_columns,
            combination,
            cells,
            mark,
            stages,
            entry,
            scratch.records,
            tally.sizes,
        )
        hopeless = not terms.all_limits and is_hopeless(
            scratch.records[:n_new],
            fixed_costs[s + 1, :n_new],
            tally,
            terms,
            s + 1,
            best.floor,
            needs[s + 1],
        )
        if monotone and not hopeless:
            owners = scratch.owners[:count]
            for i in range(count):
                owners[i] = entry.fixed[s + 1, i]
            coarse = Prefix(s + 1, count, n_new)
            hopeless = _must_suppress(stages, entry, coarse, owners, terms) > terms.most_suppressed
        if hopeless:
            counters[1] += below[s + 1]
            continue
        n_entry[s + 1], n_fixed[s + 1] = count, n_new
        s += 1
        combo[s] = -1


@compiled()
def _sizes_of_node(
    entry: RolledGroups,
    prefix: Prefix,
    fixed_costs: NDArray[np.float64],
    combination: Combination,
    cells: Cells,
    mark: int,
    scratch: _Scratch,
    tally: SizeTally,
) -> int:
    """Records and costs of a node's groups by their size. Returns how many sizes there are.

    Two loops without unforeseeable branches: all records are added to cells; then whoever comes first
    takes what is in a cell and leaves nothing, so that the others count as groups of no records. Groups
    come sorted by what is fixed, so that the cells of neighbours lie side by side.
    """
    s, n = prefix.stage, prefix.n_groups
    to_block, block_costs, n_blocks = combination.to_block, combination.costs, combination.n_blocks
    fixed, codes, group_records = entry.fixed[s], entry.codes[s], entry.records[s]
    keys, records, costs = scratch.keys, scratch.records, scratch.costs
    if prefix.n_fixed * n_blocks > DENSE:
        count = 0
        for i in range(n):
            block = to_block[codes[i]]
            cell = number_of(np.int64(fixed[i]) * n_blocks + block, cells, mark, count)
            if cell < count:
                records[cell] += group_records[i]
            else:
                records[count] = group_records[i]
                costs[count] = fixed_costs[fixed[i]] + block_costs[block]
                count += 1
        return by_size(records[:count], costs[:count], tally)
    of_size, cost_of_size, sizes = tally
    totals = cells.totals
    width = np.uint32(n_blocks)
    for i in range(n):
        key = fixed[i] * width + to_block[codes[i]]
        keys[i] = key
        totals[key] += group_records[i]
    n_sizes = 0
    for i in range(n):
        key = keys[i]
        size = totals[key]
        totals[key] = np.uint32(0)
        if of_size[size] == 0 and size > 0:
            sizes[n_sizes] = size
            n_sizes += 1
        of_size[size] += size
        cost_of_size[size] += size * (fixed_costs[fixed[i]] + block_costs[to_block[codes[i]]])
    sizes[:n_sizes].sort()
    return n_sizes


@compiled()
def _bounds_of_set(
    entry: RolledGroups,
    prefix: Prefix,
    fixed_costs: NDArray[np.float64],
    combination: Combination,
    cells: Cells,
    mark: int,
    scratch: _Scratch,
) -> int:
    """Records of the coarsest groups of a set, and the least mean cost of their records.

    Returns how many groups there are.
    """
    s, n = prefix.stage, prefix.n_groups
    to_block, code_costs, n_blocks = combination.to_block, combination.costs, combination.n_blocks
    fixed, codes, group_records = entry.fixed[s], entry.codes[s], entry.records[s]
    records, costs = scratch.records, scratch.costs
    dense = prefix.n_fixed * n_blocks <= DENSE
    stamps, places = cells.stamps, cells.cells
    count = 0
    for i in range(n):
        key = np.int64(fixed[i]) * n_blocks + to_block[codes[i]]
        if dense:
            cell = count
            if stamps[key] == mark:
                cell = places[key]
            else:
                stamps[key], places[key] = mark, count
        else:
            cell = number_of(key, cells, mark, count)
        if cell == count:
            records[cell], costs[cell] = 0, 0.0
            count += 1
        records[cell] += group_records[i]
        costs[cell] += group_records[i] * (fixed_costs[fixed[i]] + code_costs[codes[i]])
    for cell in range(count):
        costs[cell] /= records[cell]
    return count


@compiled()
def _number_groups(
    entry: RolledGroups,
    prefix: Prefix,
    combination: Combination,
    cells: Cells,
    mark: int,
    owners: NDArray[np.int64],
) -> int:
    """Number the groups that a combination makes of the entries of a stage. Returns how many there are."""
    s = prefix.stage
    to_block, n_blocks = combination.to_block, combination.n_blocks
    fixed, codes = entry.fixed[s], entry.codes[s]
    dense = prefix.n_fixed * n_blocks <= DENSE
    stamps, places = cells.stamps, cells.cells
    count = 0
    for i in range(prefix.n_groups):
        key = np.int64(fixed[i]) * n_blocks + to_block[codes[i]]
        if dense:
            group = count
            if stamps[key] == mark:
                group = places[key]
            else:
                stamps[key], places[key] = mark, count
        else:
            group = number_of(key, cells, mark, count)
        count += group == count
        owners[i] = group
    return count


@compiled()
def _details_of_node(
    entry: RolledGroups,
    prefix: Prefix,
    fixed_columns: NDArray[np.float64],
    combination: Combination,
    cells: Cells,
    mark: int,
    owners: NDArray[np.int64],
    distinct_sizes: NDArray[np.int64],
    terms: Terms,
) -> Details:
    """Costs by column and sensitive values of a node's groups."""
    s, n = prefix.stage, prefix.n_groups
    fixed, codes, group_records = entry.fixed[s], entry.codes[s], entry.records[s]
    owners = owners[:n]
    count = _number_groups(entry, prefix, combination, cells, mark, owners)
    sizes = np.zeros(count, np.int64)
    for i in range(n):
        sizes[owners[i]] += group_records[i]
    n_columns, n_values = len(terms.weights), len(terms.rules.totals)
    columns = np.zeros((len(distinct_sizes), n_columns))
    if n_columns:
        low = n_columns - combination.n_columns
        seen = 0
        for i in range(n):
            if owners[i] < seen:
                continue
            seen += 1
            size = sizes[owners[i]]
            at = np.searchsorted(distinct_sizes, size)
            for j in range(low):
                columns[at, j] += size * fixed_columns[fixed[i], j]
            begin = np.int64(combination.to_block[codes[i]]) * combination.n_columns
            for j in range(combination.n_columns):
                columns[at, low + j] += size * combination.column_costs[begin + j]
    if n_values == 0:
        owners, count = owners[:0], 0
    segments = segment_values(owners, entry.rests[s], group_records, count, n_values)
    return Details(sizes, segments, columns)


@compiled()
def _must_suppress(
    stages: Stages,
    entry: RolledGroups,
    prefix: Prefix,
    owners: NDArray[np.int64],
    terms: Terms,
) -> Any:
    """How many records are left out whenever the entries of a stage are published in finer groups.

    `owners` says which of `prefix.n_fixed` coarse groups every entry belongs to.
    """
    s, n = prefix.stage, prefix.n_groups
    values, sizes = np.empty(n, np.int64), np.zeros(prefix.n_fixed, np.int64)
    is_last = s == len(stages.n_combos) - 1
    for i in range(n):
        rest = np.int64(entry.rests[s, i])
        if not is_last:
            rest = np.int64(stages.suffix_values[stages.suffix_offsets[s + 1] + rest])
        values[i] = rest
        sizes[owners[i]] += entry.records[s, i]
    segments = segment_values(owners, values, entry.records[s], len(sizes), len(terms.rules.totals))
    return fewest_to_suppress(terms.rules, sizes, segments)
