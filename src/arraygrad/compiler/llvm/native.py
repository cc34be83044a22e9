"""LLVM: from the text of kernels to functions that can be called.

Equal texts become one function, which lives as long as a program uses it. Whoever has the address
of a function keeps the `Engine` that owns its code. The code of a text is kept on disk, too: see
`stored`. So texts have no addresses in them, which differ from process to process: see `Addresses`.

LLVM runs in threads of its own: an interrupt in the middle of its binding would leave a lock held,
or memory with two owners; and a thread of the user may have a small stack.
"""

from __future__ import annotations

import ctypes
import itertools
import os
import threading
import weakref
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from ...core.locks import held, once
from .stored import digest, store
from .vectors import Module

R = TypeVar("R")

_PASSES = ("sroa_pass", "instruction_combine_pass")  # more take longer and gain nothing
STACK = 8 << 20  # bytes of the stack of LLVM's threads
# LLVM's engines, by numbers. Only this table refers to them: else Python's garbage collector could
# close one that is in `_unused`, while another thread closes it.
_engines: dict[int, Any] = {}
_unused: deque[int] = deque()  # the numbers of engines whose code nobody can call any more
_numbers = itertools.count()
_starting, _working = threading.Lock(), threading.Lock()


@once
def _llvm() -> Any:
    """LLVM's binding, ready to use."""
    try:
        import llvmlite.binding as llvm
    except ImportError:
        raise ImportError(
            "ag.compile needs llvmlite to make native code: pip install 'arraygrad[compile]', or "
            "set ARRAYGRAD_COMPILE=0 to run compiled functions eagerly"
        ) from None
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    for library in ("libm.so.6", "libm.dylib", "ucrtbase.dll"):  # for functions such as sin
        try:
            llvm.load_library_permanently(library)
        except RuntimeError:
            continue
        break
    return llvm


@once
def _host() -> tuple[str, str, int]:
    """The processor, its features, and the bytes of its vector registers.

    The environment variable ``ARRAYGRAD_TARGET`` names another processor to make code for, as in
    ``haswell``, which has AVX2 but not AVX-512; or ``generic``.
    """
    llvm = _llvm()
    name = os.environ.get("ARRAYGRAD_TARGET")
    if name:
        wide = {"haswell": 32, "skylake-avx512": 64, "znver4": 64}
        return name, "", wide.get(name, 16)
    try:
        features = llvm.get_host_cpu_features()
    except RuntimeError:  # a processor that LLVM does not know
        return "generic", "", 16
    vector = 64 if features.get("avx512f") else 32 if features.get("avx2") else 16
    # Arithmetic of float16 is that of float32, rounded after each op, as NumPy's is. With
    # instructions for float16, LLVM would join a product and a sum, and round them once.
    features.update(dict.fromkeys({"avx512fp16", "fullfp16"} & features.keys(), False))
    return llvm.get_host_cpu_name(), features.flatten(), vector


def vector_bytes() -> int:
    """The bytes of a vector register."""
    return _host()[2]


def has_halves() -> bool:
    """Whether the processor converts float16."""
    is_arm = _llvm().get_process_triple().startswith(("aarch64", "arm64"))
    return vector_bytes() >= 32 or is_arm


def vector_registers() -> int:
    """How many vector registers there are."""
    is_old = vector_bytes() < 64 and _llvm().get_process_triple().startswith(("x86", "i686"))
    return 16 if is_old else 32


def _machine() -> Any:
    llvm = _llvm()
    name, features, _ = _host()
    target = llvm.Target.from_triple(llvm.get_process_triple())
    return target.create_target_machine(cpu=name, features=features, opt=2)


class Function:
    """A native function ``void function(ptr table, i64 chunk)``."""

    def __init__(self, engine: Engine, name: str, text: str) -> None:
        self._engine = engine  # owns the code
        self.text = text
        self.address = engine.address(name)


_known: weakref.WeakValueDictionary[Any, Function] = weakref.WeakValueDictionary()
_lock = threading.Lock()


def compiled(texts: Sequence[str], module: Module) -> list[Function]:
    """The functions with some texts, in which ``@NAME`` stands for the name."""
    return held(_lock, _compiled, texts, module)


def _compiled(texts: Sequence[str], module: Module) -> list[Function]:
    found = {text: _known.get(text) for text in texts}
    new = [text for text, function in found.items() if function is None]
    if new:
        names = [f"kernel{i}" for i in range(len(new))]
        bodies = [t.replace("@NAME(", f"@{n}(", 1) for t, n in zip(new, names, strict=True)]
        engine = Engine(module.text(bodies), names)
        for text, name in zip(new, names, strict=True):
            found[text] = _known[text] = Function(engine, name, text)
    return [found[text] for text in texts]  # type: ignore[misc]


class Addresses:
    """The addresses that a module refers to: it finds them in a table, which is filled later."""

    def __init__(self) -> None:
        self._known: dict[int, int] = {}

    def place(self, address: int) -> str:
        """Where the module finds an address: the text of a pointer."""
        number = self._known.setdefault(address, len(self._known))
        return f"getelementptr (ptr, ptr @addresses, i64 {number})"

    def declaration(self) -> str:
        """The text of the table."""
        return f"@addresses = global [{len(self._known)} x ptr] zeroinitializer"

    def fill(self, table: int) -> None:
        """Write the addresses to the table."""
        (ctypes.c_void_p * len(self._known)).from_address(table)[:] = list(self._known)


class Engine:
    """The machine code of a module. It lives as long as the engine.

    Parameters
    ----------
    text : str
        The module, as LLVM reads it.
    names : sequence of str
        The functions whose addresses are wanted.
    outside : Addresses, optional
        The addresses that the module refers to.
    """

    def __init__(self, text: str, names: Sequence[str], outside: Addresses | None = None) -> None:
        if outside is not None:
            text = f"{outside.declaration()}\n{text}"
        self._number, self._addresses = _in_thread(lambda: _machine_code(text, names, outside))

    def address(self, name: str) -> int:
        """The address of a function."""
        return self._addresses[name]

    def __del__(self, _unused: Any = _unused) -> None:
        # Any thread may come here, also between two instructions of LLVM's binding.
        if hasattr(self, "_number"):
            _unused.append(self._number)


def _machine_code(
    text: str, names: Sequence[str], outside: Addresses | None
) -> tuple[int, dict[str, int]]:
    while _unused:
        _engines.pop(_unused.popleft()).close()
    llvm, machine = _llvm(), _machine()
    version = f"{llvm.llvm_version_info} {_PASSES}"
    name = digest(version, machine.triple, *map(str, _host()), text)
    code = store().read(name)
    if code is None:
        code = machine.emit_object(_optimized(text, machine))
        store().write(name, code)
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)
    engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    engine.finalize_object()
    if outside is not None:
        outside.fill(engine.get_global_value_address("addresses"))
    number = next(_numbers)
    _engines[number] = engine
    return number, {name: engine.get_function_address(name) for name in names}


def _in_thread(function: Callable[[], R]) -> R:
    """What a function returns, called in a new thread, where no interrupt comes."""
    found: list[R] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            with _working:
                found.append(function())
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=run, name="arraygrad-compiler")
    try:
        held(_starting, _start, thread)
        thread.join()
    except RuntimeError:  # there are too many threads, or the interpreter is exiting
        run()
    if errors:
        raise errors[0]
    return found[0]


def _start(thread: threading.Thread) -> None:
    """Start a thread with a stack that is large enough for LLVM."""
    before = threading.stack_size()
    try:
        if 0 < before < STACK:
            threading.stack_size(STACK)
        thread.start()
    finally:
        threading.stack_size(before)


def _optimized(text: str, machine: Any) -> Any:
    """A module after LLVM's passes."""
    llvm = _llvm()
    parsed = llvm.parse_assembly(text)
    builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=1))
    passes = llvm.create_new_module_pass_manager()
    for name in _PASSES:
        getattr(passes, f"add_{name}")()
    passes.run(parsed, builder)
    return parsed


def assembly(text: str) -> str:
    """The processor's instructions for a module."""

    def made() -> str:
        machine = _machine()
        return machine.emit_assembly(_optimized(text, machine))  # type: ignore[no-any-return]

    return _in_thread(made)
