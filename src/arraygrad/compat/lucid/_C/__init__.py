"""`lucid._C`: of Lucid's compiled engine, the errors that programs catch."""

from . import engine as engine
