"""What a debate costs in memory and descriptors while its model is waited for, beyond the first hundred."""

from dataclasses import dataclass

from tests.bench.many import Job, site

FIRST, ALL, TURNS = 100, 1000, 2
TARGET_KB, TARGET_DESCRIPTORS = 60, 2
# Longer than the measurement takes.
SILENT_S = 300.0


@dataclass(frozen=True)
class Waiting:
    """Of one debate."""

    rss_kb: float
    descriptors: float


def measured(workers: int = 2) -> Waiting:
    with site(Job(ALL, TURNS, SILENT_S, workers=workers)) as here:
        here.drive("hold", FIRST, TURNS)
        rss_kb, descriptors = here.rss_kb(), here.descriptors()
        more = ALL - FIRST
        here.drive("hold", more, TURNS)
        return Waiting((here.rss_kb() - rss_kb) / more, (here.descriptors() - descriptors) / more)


def main() -> None:
    one = measured()
    print(
        f"A debate that waits for its model takes {one.rss_kb:.0f} KB and {one.descriptors:.2f} descriptors, beyond "
        f"the first {FIRST} of {ALL} (targets: under {TARGET_KB} KB, {TARGET_DESCRIPTORS} descriptors)."
    )


if __name__ == "__main__":
    main()
