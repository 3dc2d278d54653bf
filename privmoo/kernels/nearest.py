"""Assignment of points to their nearest centroids."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from privmoo.kernels.compiled import compiled

__all__ = ["nearest_centroids"]


@compiled()
def nearest_centroids(
    points: NDArray[np.float64],
    numeric: NDArray[np.bool_],
    lead: int,
    centroids: NDArray[np.float64],
    labels: NDArray[np.int32],
) -> None:
    """The nearest centroid of every point; of equally near ones the first.

    Squared difference of numbers plus one for every category that differs. Centroids are looked at from a
    point's own place in the order of column `lead` (a number; -1 if there is none) outwards, until that
    column alone is farther away than the best: the result is that of looking at all.
    """
    n_points, n_centroids = len(points), len(centroids)
    numbers = np.flatnonzero(numeric)
    categories = np.flatnonzero(~numeric)
    order = np.arange(n_centroids)
    keys = np.zeros(n_centroids)
    if lead >= 0:
        order = np.argsort(centroids[:, lead], kind="mergesort")
        keys = centroids[order, lead]
    # One row per centroid: its numbers, then its categories; the same for the point at hand.
    width, n_numbers = len(numeric), len(numbers)
    ordered = np.empty((n_centroids, width))
    for i in range(n_centroids):
        for j in range(n_numbers):
            ordered[i, j] = centroids[order[i], numbers[j]]
        for j in range(len(categories)):
            ordered[i, n_numbers + j] = centroids[order[i], categories[j]]
    point = np.empty(width)
    for t in range(n_points):
        for j in range(n_numbers):
            point[j] = points[t, numbers[j]]
        for j in range(len(categories)):
            point[n_numbers + j] = points[t, categories[j]]
        middle = points[t, lead] if lead >= 0 else 0.0
        right = np.searchsorted(keys, middle)
        left = right - 1
        best, place = np.inf, n_centroids
        while left >= 0 or right < n_centroids:
            from_left = middle - keys[left] if left >= 0 else np.inf
            from_right = keys[right] - middle if right < n_centroids else np.inf
            if from_left <= from_right:
                at, gap = left, from_left
                left -= 1
            else:
                at, gap = right, from_right
                right += 1
            if gap * gap > best:
                break
            distance = 0.0
            for j in range(n_numbers):
                apart = point[j] - ordered[at, j]
                distance += apart * apart
            if distance > best:
                continue
            for j in range(n_numbers, width):
                distance += point[j] != ordered[at, j]
            if distance < best or (distance == best and order[at] < place):
                best, place = distance, order[at]
        labels[t] = place
