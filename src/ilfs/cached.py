"""Attributes that are computed on first access."""

from collections.abc import Callable
from dataclasses import fields
from typing import Any, Generic, TypeVar, overload

T = TypeVar("T")


class cached_property(Generic[T]):  # noqa: N801  used as a decorator, like property
    """Compute an attribute on first access and keep it on the instance.

    Unlike `functools.cached_property` of Python 3.11, it takes no lock. That one has one lock for all instances, so
    threads wait for each other, and a process forked while a thread holds the lock waits for ever. Without a lock, two
    threads may both compute a value, so the function must return the same value every time.

    Parameters
    ----------
    function : callable
        The method that computes the value.

    Examples
    --------
    >>> from ilfs.cached import cached_property
    >>> class Square:
    ...     side = 3
    ...
    ...     @cached_property
    ...     def area(self):
    ...         print("computing")
    ...         return self.side**2
    >>> square = Square()
    >>> square.area, square.area
    computing
    (9, 9)
    """

    def __init__(self, function: Callable[[Any], T]) -> None:
        self.function, self.name, self.__doc__ = function, function.__name__, function.__doc__

    @overload
    def __get__(self, instance: None, owner: type) -> "cached_property[T]": ...

    @overload
    def __get__(self, instance: object, owner: type) -> T: ...

    def __get__(self, instance: object | None, owner: type) -> "T | cached_property[T]":
        if instance is None:
            return self
        # Without __set__ this is a non-data descriptor: from now on Python finds the value in the instance's __dict__.
        value = instance.__dict__[self.name] = self.function(instance)
        return value


class PicklesFieldsOnly:
    """Mix-in for dataclasses that pickles only the fields, not the values of cached properties."""

    def __getstate__(self) -> dict[str, Any]:
        names = {field.name for field in fields(self)}  # type: ignore[arg-type]
        return {name: value for name, value in vars(self).items() if name in names}
