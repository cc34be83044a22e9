"""The compiler: turns a function of arrays into a program. Nothing imports it until it is used."""

from .compiled import Compiled, compile

__all__ = ["Compiled", "compile"]
