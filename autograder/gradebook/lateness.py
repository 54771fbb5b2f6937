"""What lateness costs: computed anew each time from the time of submission, the deadline and the points."""

from __future__ import annotations

from collections.abc import Sequence

from nbgrader.api import Gradebook, SubmittedAssignment, SubmittedNotebook

from autograder.configuration import Configuration
from autograder.course import Course
from autograder.gradebook.database import open_gradebook


def settle_lateness(course: Course, sections: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Compute the penalties of all submissions of the sections; return student and section of those that lose points.

    A submission's points may have changed since it was graded, by hand, and deadlines in course.toml.
    """
    configuration, losing = course.configuration, []
    with open_gradebook(course) as gradebook:
        for section in sections:
            for submission in gradebook.assignment_submissions(section):
                if judge_lateness(gradebook, configuration, submission):
                    losing.append((submission.student.id, section))
        gradebook.db.commit()
    return tuple(sorted(losing))


def judge_lateness(gradebook: Gradebook, configuration: Configuration, submission: SubmittedAssignment) -> bool:
    """Set the deadline and the penalty of a submission as the course has them; say whether it loses points.

    For a section that course.toml gives no deadline, that of the gradebook holds, with its extensions.
    """
    section, student = submission.assignment.name, submission.student.id
    due = configuration.due.get(section)
    if due is not None:
        submission.assignment.duedate = due.replace(tzinfo=None)
        own = configuration.extensions.get(section, {}).get(student)
        submission.extension = None if own is None else own - due
    gradebook.db.flush()
    return any([_judge(gradebook, configuration, submission, notebook) for notebook in submission.notebooks])


def _judge(
    gradebook: Gradebook, configuration: Configuration, submission: SubmittedAssignment, notebook: SubmittedNotebook
) -> bool:
    gradebook.db.refresh(notebook)  # the database adds the points up
    penalty = configuration.late.penalty(notebook.score, submission.total_seconds_late)
    notebook.late_submission_penalty = penalty or None
    return penalty > 0
