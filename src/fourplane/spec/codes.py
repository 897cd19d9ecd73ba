"""Codes of what can be wrong with the files themselves; rules on the design live with the planes."""

from __future__ import annotations

from fourplane.base.codes import define
from fourplane.base.documents.codes import TOO_MANY, Code, finding

__all__ = ["TOO_MANY", "Code", "finding"]

_CORE = "https://yaml.org/spec/1.2.2/#103-core-schema"
_UNITS = "https://physics.nist.gov/cuu/Units/binary.html"
_DNS = "https://kubernetes.io/docs/concepts/overview/working-with-objects/names/"
_HOSTS = "https://slurm.schedmd.com/slurm.conf.html"

EMPTY = define(
    "spec-empty",
    "The file says nothing",
    "A declaration has at least a name, a quote at least a provider.",
    "Write 'name: my-cluster' into a declaration, 'provider: NAME' into a quote.",
)
UNKNOWN_KEY = define(
    "spec-unknown-key",
    "The specification has no such key here",
    "A misspelt key would be a fact that nobody checks.",
    "Take the key that is meant, or move it to the place it belongs to.",
    requirement="B1",
)
MISSING = define(
    "spec-missing",
    "A required key is missing",
    "The entry can't be told from others, or can't be judged, without it; the rest of the entry is left out.",
    "Add the key.",
    requirement="B1",
)
WRONG_TYPE = define(
    "spec-wrong-type",
    "The value has another type than the key asks for",
    "A text where a number belongs can't be compared with what was measured.",
    "Write a value of the type expected.",
    _CORE,
)
WRONG_UNIT = define(
    "spec-wrong-unit",
    "The quantity has no unit, an unknown one, or one of another dimension",
    "400 GB/s is eight times 400 Gb/s, and 80 GiB is 7 % more than 80 GB: a slip of the unit passes for a promise.",
    "Write number and unit, such as 80 GiB, 400 Gb/s, 3.35 TB/s, 30 min, 700 W, 60 %.",
    _UNITS,
)
NEGATIVE = define(
    "spec-negative",
    "The value is negative",
    "Nothing that is counted, lasts or costs is less than zero.",
    "Write zero or more; leave the key out where the fact is not known.",
)
OUT_OF_RANGE = define(
    "spec-out-of-range",
    "The value lies outside its range",
    "A share ends at 100 %; a count in the millions is a slip of the keyboard.",
    "Write a value within the range.",
)
UNKNOWN_VALUE = define(
    "spec-unknown-value",
    "The value is not one of those that the key knows",
    "Rules compare by name; an unknown name would switch them off in silence.",
    "Take one of the values listed.",
    requirement="B1",
)
BAD_NAME = define(
    "spec-bad-name",
    "The name is not one that Slurm, Kubernetes and DNS all accept",
    "Names of pools, queues and teams become partitions, namespaces and labels; the narrowest rule is RFC 1123's.",
    "Use lower-case letters, digits and '-', at most 63 characters, no '-' at either end.",
    _DNS,
)
BAD_HOST_LIST = define(
    "spec-bad-host-list",
    "The text is not a host list",
    "Nodes are matched by name with what was found; a list that can't be expanded matches nothing.",
    "Write names and ranges as Slurm does: node[01-16,20].",
    _HOSTS,
)
BAD_RATIO = define(
    "spec-bad-ratio",
    "The text is not an oversubscription",
    "Oversubscription N:1 gives the capacity towards the nodes over the capacity upwards; below 1:1 there is none.",
    "Write 1:1 for a non-blocking fabric, 2:1 for half the capacity upwards.",
)
BAD_DATE = define(
    "spec-bad-date",
    "The text is not a day",
    "03/04/2027 is two different days on two sides of an ocean.",
    "Write YEAR-MONTH-DAY, such as 2027-06-30.",
    "https://www.rfc-editor.org/rfc/rfc3339",
)
BAD_CONDITION = define(
    "spec-bad-condition",
    "The text is not the id of a review condition",
    "A waiver sets one condition aside; a whole area can't be waived, and a misspelt id would waive nothing.",
    "Take the id from 'fourplane review --json', such as R4.checkpoint_write.",
    requirement="R",
)
BLANK = define(
    "spec-blank",
    "The text is empty",
    "An empty text looks filled in but states nothing.",
    "Fill it in, or remove the key.",
    requirement="B2",
)
PLACEHOLDER = define(
    "spec-placeholder",
    "A placeholder stands where a fact belongs",
    "TBD is not an owner: a field that holds it would look answered. It counts as not stated.",
    "Fill it in; until then leave the key out, and the review names who should know.",
    requirement="B2",
)
DUPLICATE_NAME = define(
    "spec-duplicate-name",
    "Two entries have the same name",
    "Quotes, quotas and measurements refer to entries by name; two of one name can't be told apart.",
    "Rename one of them.",
)
DUPLICATE_HOST = define(
    "spec-duplicate-host",
    "A host is listed twice",
    "One node in two entries has two sets of facts, and is counted and paid for twice.",
    "Remove it from one of the lists.",
    requirement="C2",
)
COUNT_MISMATCH = define(
    "spec-count-mismatch",
    "The count and the host list disagree",
    "It is open how many nodes are bought; every sum over the pool would be wrong one way or the other.",
    "Correct the count or the list; the count may be left out where the hosts are listed.",
    _HOSTS,
    requirement="C2",
)
UNKNOWN_HOST = define(
    "spec-unknown-host",
    "A node entry names a host that its pool does not have",
    "The facts of the entry would apply to no node.",
    "Add the host to the pool's 'hosts', or correct its name.",
    requirement="C2",
)
UNKNOWN_REFERENCE = define(
    "spec-unknown-reference",
    "A name refers to nothing in the declaration",
    "A quota, queue or promise for a pool that does not exist holds for no node.",
    "Use the name of an entry that exists, or add the entry.",
)
CONTRADICTION = define(
    "spec-contradiction",
    "Two values contradict each other",
    "Only one of them can hold, and the file does not say which.",
    "Correct one of them.",
)
EXPIRED = define(
    "spec-expired",
    "A date lies in the past",
    "A waiver past its end waives nothing, and a price past its end binds nobody.",
    "Renew it, or remove it.",
    requirement="R",
)
IGNORED_FILE = define(
    "spec-ignored-file",
    "A file in quotes/ is not read",
    "Only *.yaml is read there; a quote under another name would be missing from every comparison.",
    "Rename it to NAME.yaml, or move it out of quotes/.",
)
UNREADABLE = define(
    "spec-unreadable-file",
    "A file can't be read",
    "What can't be read is not judged.",
    "Check that it is a regular file and its permissions.",
)
NO_WORKSPACE = define(
    "spec-no-workspace",
    "There is no fourplane.yaml",
    "A workspace is a folder that holds fourplane.yaml.",
    "Write one with 'fourplane init', or name the right folder.",
)
NO_FILE = define(
    "spec-no-file",
    "The file does not exist",
    "Nothing was judged.",
    "Check the name.",
)
NO_TEMPLATE = define(
    "init-no-template",
    "There is no such template",
    "Nothing was written.",
    "Take one of the templates that 'fourplane init --help' lists.",
)
FILE_EXISTS = define(
    "init-file-exists",
    "A file is in the way of the template",
    "What somebody wrote is never overwritten; nothing was written.",
    "Name another folder, or move the files away.",
)
NOT_WRITABLE = define(
    "init-not-writable",
    "The workspace can't be written",
    "The operating system refused a folder or a file.",
    "Name a folder that you may write to.",
)
