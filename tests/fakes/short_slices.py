"""Included by a worker of a test (`celery worker --include`), whose threads then change hands within a second."""

from debates import fairness

fairness.SLICE_S = 0.4
fairness.LOOK_AGAIN_S = 0.2
fairness.HEARD_WITHIN_S = 0.2
