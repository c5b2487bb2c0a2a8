from django.db import connection


def release_connection() -> None:
    """Give the database connection back before something long; inside a transaction it must stay."""
    if not connection.in_atomic_block:
        connection.close()
