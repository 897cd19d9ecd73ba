"""Questions to the models that error messages need: which keys belong where, and where a key would belong."""

from __future__ import annotations

import re
from enum import StrEnum
from functools import lru_cache
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from fourplane.base.codes import similar
from fourplane.base.documents.positions import join_path
from fourplane.spec.types import Model

__all__ = ["choices_of", "field_at", "homes_of", "model_at", "nearest_key", "nearest_value"]

_SYNONYMS = {
    "ib": "infiniband", "ndr": "infiniband", "hdr": "infiniband", "rocev2": "roce", "tcp": "ethernet",
    "training": "pre-training", "pretraining": "pre-training", "finetuning": "fine-tuning",
    "inference": "online-inference", "serving": "online-inference",
    "multi-node": "multi-node-synchronous", "single-node": "one-node",
    "multi-instance-gpu": "mig", "timeslicing": "time-slicing", "k8s": "kubernetes", "xid": "gpu-fault",
    "on-prem": "on-premises", "colo": "colocation", "api": "model-api", "sriov": "sr-iov",
}  # fmt: skip
_KEY_SYNONYMS = {
    "gpus": "gpu", "ram": "memory", "nodes": "count", "size": "count", "vendor": "provider", "nic": "nics",
    "bandwidth": "speed", "model_name": "name", "license": "licence", "utilization": "target_utilisation",
    "target_utilization": "target_utilisation", "framework": "frameworks", "num_nodes": "count",
}  # fmt: skip


def _plain(annotation: Any) -> Any:
    """Strip ``Annotated`` and ``| None``."""
    while True:
        origin = get_origin(annotation)
        if origin is Annotated:
            annotation = get_args(annotation)[0]
        elif origin in (Union, UnionType):
            annotation = next(arg for arg in get_args(annotation) if arg is not type(None))
        else:
            return annotation


def _inside(annotation: Any) -> Any:
    """Return the type of what a list or mapping holds, else the type itself."""
    annotation = _plain(annotation)
    origin = get_origin(annotation)
    if origin is tuple:
        return _plain(get_args(annotation)[0])
    if origin is dict:
        return _plain(get_args(annotation)[1])
    return annotation


def field_at(root: type[Model], parts: tuple[str | int, ...]) -> Any:
    """Return the type that is asked for at ``parts``, or None where the models have nothing."""
    current: Any = root
    for part in parts:
        if isinstance(current, type) and issubclass(current, Model):
            field = current.model_fields.get(str(part))
            if field is None:
                return None
            current = _plain(field.annotation)
        else:
            inner = _inside(current)
            if inner is current:
                return None
            current = inner
    return current


def model_at(root: type[Model], parts: tuple[str | int, ...]) -> type[Model] | None:
    """Return the model at ``parts``, or None."""
    found = field_at(root, parts)
    return found if isinstance(found, type) and issubclass(found, Model) else None


def _snake(word: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", word).lower()).strip("_")


def nearest_key(model: type[Model], key: str) -> str:
    """Return the key of ``model`` that ``key`` was meant to be, or ""."""
    names = list(model.model_fields)
    snake = _snake(key)
    for guess in (snake, _KEY_SYNONYMS.get(snake, "")):
        if guess in names:
            return guess
    near = similar(snake, names, limit=1)
    return near[0] if near else ""


def nearest_value(choices: list[str], found: str) -> str:
    """Return the one of ``choices`` that ``found`` was meant to be, or ""."""
    word = re.sub(r"[\s_]+", "-", found.strip().lower())
    for guess in (word, _SYNONYMS.get(word, "")):
        if guess in choices:
            return guess
    near = similar(word, choices, limit=1)
    return near[0] if near else ""


@lru_cache(maxsize=4)
def _paths_by_key(root: type[Model]) -> dict[str, list[tuple[str, ...]]]:
    """Return for every key of the models all places where it may stand; list positions are written ``[]``."""
    table: dict[str, list[tuple[str, ...]]] = {}

    def walk(model: type[Model], prefix: tuple[str, ...]) -> None:
        for name, field in model.model_fields.items():
            path = (*prefix, name)
            table.setdefault(name, []).append(path)
            inner = _inside(field.annotation)
            if isinstance(inner, type) and issubclass(inner, Model):
                walk(inner, (*path, "[]") if get_origin(_plain(field.annotation)) is tuple else path)

    walk(root, ())
    return table


def homes_of(root: type[Model], parts: tuple[str | int, ...]) -> list[str]:
    """Return the paths where the last key of ``parts`` would belong, as near as possible to ``parts``.

    Nothing is returned where more than three places are equally near: naming them all would not help.
    """
    here = ["[]" if isinstance(part, int) else part for part in parts[:-1]]

    def distance(path: tuple[str, ...]) -> tuple[int, int]:
        common = 0
        for a, b in zip(path, here, strict=False):
            if a != b:
                break
            common += 1
        return (-common, len(path))

    candidates = _paths_by_key(root).get(_snake(str(parts[-1])), [])
    nearest = min(map(distance, candidates), default=(0, 0))
    homes = [path for path in candidates if distance(path) == nearest]
    depth = -nearest[0]
    named = [join_path((*parts[:depth], *(0 if step == "[]" else step for step in path[depth:]))) for path in homes]
    return named if len(named) <= 3 else []


def choices_of(annotation: Any) -> list[str]:
    """Return the values of an enumeration, [] for anything else."""
    inner = _inside(annotation)
    return [str(member) for member in inner] if isinstance(inner, type) and issubclass(inner, StrEnum) else []
