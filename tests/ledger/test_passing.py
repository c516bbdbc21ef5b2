import threading

from mangen.ledger import jobs


def test_ready_jobs_waits_for_hard_done_and_soft_settled(desk, wanted):
    a, b, shot, clip = desk.want(
        wanted("anchor", "c/a"),
        wanted("anchor", "c/b"),
        wanted("illustrate", "e1/s1", ("anchor", "c/a"), ("anchor", "c/b")),
        wanted("animate", "e1/s1", ("illustrate", "e1/s1", "hard")),
    )
    assert desk.advance() == ([], [a, b])
    desk.settle(a, "done")
    assert desk.advance() == ([], [])
    desk.settle(b, "failed")
    assert desk.advance() == ([], [shot])
    assert desk.events(shot)[-1] == ("ready_jobs", "blocked", "ready")
    desk.settle(shot, "done")
    assert desk.advance() == ([], [clip])


def test_ready_jobs_refuses_what_is_not_blocked_or_still_waits(desk, wanted):
    a, shot = desk.want(wanted("anchor", "c/a"), wanted("illustrate", "e1/s1", ("anchor", "c/a")))
    with desk.book.transaction() as conn:
        assert desk.book.ready_jobs(conn, {shot: 1.0}) == []
        assert desk.book.ready_jobs(conn, {a: 1.0}) == [a]
        assert desk.book.ready_jobs(conn, {a: 2.0}) == []
    assert desk.row(a)["rank"] == 1.0


def test_find_ready_says_what_ranks_are_made_of(desk, wanted):
    a, *_ = desk.want(
        wanted("anchor", "c/a", klass=0, seconds_est=3.0, peaks=(7, 9)),
        wanted("illustrate", "e1/s1", ("anchor", "c/a")),
        wanted("illustrate", "e1/s2", ("anchor", "c/a")),
    )
    with desk.book.transaction() as conn:
        assert desk.book.find_ready(conn, desk.project) == [
            jobs.Candidate(
                id=a,
                seconds_theory=3.0,
                stage="anchor",
                bucket="anchor",
                model="m",
                peak_bytes=7,
                frees=2,
                klass=0,
            )
        ]


def test_what_will_insert_jobs_counts_as_freeing_them(desk, wanted):
    desk.want(wanted("storyboard", "project", brings=120), wanted("voice", "e1/s1/l1"))
    with desk.book.transaction() as conn:
        found = desk.book.find_ready(conn, desk.project)
    assert [(one.stage, one.frees) for one in found] == [("storyboard", 120), ("voice", 0)]


def test_skip_jobs_goes_on_to_a_fixpoint(desk, wanted):
    panel, clip, large, film = desk.want(
        wanted("illustrate", "e1/s1"),
        wanted("animate", "e1/s1", ("illustrate", "e1/s1", "hard")),
        wanted("upscale", "e1/s1", ("animate", "e1/s1", "hard")),
        wanted("assemble", "e1", ("animate", "e1/s1"), ("upscale", "e1/s1")),
    )
    desk.settle(panel, "failed")
    assert desk.advance() == ([clip, large], [film])
    assert desk.events(large)[-1] == ("skip_jobs", "blocked", "skipped")
    assert desk.advance() == ([], [])


def test_skip_jobs_leaves_what_needs_only_softly_or_is_not_blocked(desk, wanted):
    anchor, shot = desk.want(
        wanted("anchor", "c/a"), wanted("illustrate", "e1/s1", ("anchor", "c/a"))
    )
    desk.book.cancel(anchor)
    assert desk.advance() == ([], [shot])
    assert desk.advance() == ([], [])


def test_two_last_anchors_that_finish_together_release_their_shot(desk, wanted):
    for n in range(8):
        a, b, shot = desk.want(
            wanted("anchor", f"c/a{n}"),
            wanted("anchor", f"c/b{n}"),
            wanted("illustrate", f"e1/s{n}", ("anchor", f"c/a{n}"), ("anchor", f"c/b{n}")),
        )
        fences = desk.run(a, b)
        gate = threading.Barrier(3)

        def end(fence, gate=gate):
            with desk.book.finishing(fence):
                gate.wait(10)

        threads = [threading.Thread(target=end, args=(fence,)) for fence in fences]
        for thread in threads:
            thread.start()
        gate.wait(10)
        early = desk.advance()[1]  # a look in the middle of both commits
        for thread in threads:
            thread.join(10)
        with desk.book.transaction() as conn:
            dirty = desk.book.dirty_projects(conn)
        assert early == [shot] or (dirty == [desk.project] and desk.advance()[1] == [shot])


def test_clear_dirty_forgets_only_what_it_could_see(desk, wanted):
    [a] = desk.want(wanted("anchor", "c/a"))
    [fence] = desk.run(a)
    with desk.book.transaction() as looking:
        with desk.book.finishing(fence) as conn:
            conn.exec_driver_sql("select 1")
            desk.book.clear_dirty(looking, desk.project)
        assert desk.book.dirty_projects(looking) == [desk.project]


def test_clear_dirty_names_what_became_done_and_find_ready_looks_near_it(desk, wanted):
    a, b, shot, other, failing = desk.want(
        wanted("anchor", "c/a"),
        wanted("anchor", "c/b"),
        wanted("illustrate", "e1/s1", ("anchor", "c/a")),
        wanted("illustrate", "e1/s2", ("anchor", "c/a"), ("anchor", "c/b")),
        wanted("anchor", "c/c"),
    )
    fences = desk.run(a, b, failing)

    def look():
        with desk.book.transaction() as conn:
            near = desk.book.clear_dirty(conn, desk.project)
            found = desk.book.find_ready(conn, desk.project, near=near)
            return near, [one.id for one in found]

    desk.finish(fences[0])
    assert look() == ([a], [shot])
    assert look() == (None, [shot])
    desk.finish(fences[1])
    assert look() == ([b], [other])
    desk.book.fail(fences[2], "permanent", "broken")
    assert look() == (None, [shot, other])


def test_the_pass_never_waits_for_a_job_row(desk, wanted):
    [a] = desk.want(wanted("anchor", "c/a"))
    with desk.book.transaction() as other:
        desk.book.cancel_jobs(other, [a])  # holds the row
        assert desk.advance() == ([], [])
    with desk.book.transaction() as conn:
        assert desk.book.dirty_projects(conn) == [desk.project]


def test_what_may_not_run_yet_is_not_published(desk, wanted):
    [a] = desk.want(wanted("anchor", "c/a"))
    [fence] = desk.run(a)
    desk.book.fail(fence, "transient", "again")
    assert desk.publish(a) == []
    desk.due(a)
    assert desk.publish(a) == [a]


def test_unpublish_jobs_takes_back_only_old_bells_that_nobody_holds(desk, wanted):
    a, b, c, d = desk.want(
        *(wanted("anchor", f"c/{n}") for n in range(3)), wanted("anchor", "c/d", queue="gpu.low")
    )
    desk.advance()
    desk.publish(a, b, d)
    desk.sql(
        "update jobs set published_at = published_at - interval '9 s' where state = 'published'"
    )
    desk.publish(c)
    with desk.book.transaction() as conn:
        assert desk.book.unpublish_jobs(conn, 5.0, [b], ["cpu"]) == 1
    assert [desk.state(job) for job in (a, b, c, d)] == [
        "ready", "published", "published", "published",
    ]  # fmt: skip
    assert desk.events(a)[-1] == ("unpublish_jobs", "published", "ready")
    assert desk.publish(a) == [a]
    assert desk.row(a)["bell"] == 2


def test_open_projects_names_those_with_blocked_jobs(desk, wanted):
    with desk.book.transaction() as conn:
        assert desk.book.open_projects(conn) == []
    desk.want(wanted("anchor", "c/a"))
    with desk.book.transaction() as conn:
        assert desk.book.open_projects(conn) == [desk.project]
    desk.advance()
    with desk.book.transaction() as conn:
        assert desk.book.open_projects(conn) == []
