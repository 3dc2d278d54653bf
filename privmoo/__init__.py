"""privmoo."""
from privmoo.hierarchy import Hierarchy
from privmoo.table import Table
from privmoo.columns import QuasiIdentifier
from privmoo.engine import group, Engine, Candidates
