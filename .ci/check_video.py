"""Check the demo's finished videos: streams, size, rate, length, sound as long as the picture."""

import pathlib
import sys

import av

SIZE, FPS, RATE, SECONDS = (720, 1280), 24, 48_000, (35.0, 45.0)


def faults(path: pathlib.Path) -> list[str]:
    """Answer what is wrong with one video."""
    with av.open(str(path)) as file:
        video, audio = file.streams.video[0], file.streams.audio[0]
        found = [
            f"{name} is {is_}, not {should}"
            for name, is_, should in (
                ("the size", (video.width, video.height), SIZE),
                ("the frame rate", video.average_rate, FPS),
                ("the picture's codec", video.codec_context.name, "h264"),
                ("the pixel format", video.codec_context.pix_fmt, "yuv420p"),
                ("the sound's codec", audio.codec_context.name, "aac"),
                ("the sample rate", audio.rate, RATE),
            )
            if is_ != should
        ]
        frames = sum(1 for _ in file.decode(video=0))
    with av.open(str(path)) as file:
        samples = sum(frame.samples for frame in file.decode(audio=0))
    seconds = frames / FPS
    print(f"{path.name}: {frames} frames, {seconds:.2f} s, {samples} samples")
    if not SECONDS[0] <= seconds <= SECONDS[1]:
        found.append(f"it lasts {seconds:.2f} s, not {SECONDS[0]:.0f} to {SECONDS[1]:.0f}")
    if abs(samples - frames * RATE // FPS) > RATE // FPS:
        found.append(f"sound and picture differ by {samples / RATE - seconds:+.3f} s")
    for suffix in (".srt", ".ass", ".cover.png", ".storyboard.json"):
        beside = path.with_name(path.stem + suffix)
        if not beside.exists() or not beside.stat().st_size:
            found.append(f"{beside.name} is missing")
    return found


def main(names: list[str]) -> int:
    """Check every named video; at least one must be there."""
    wrong = [f"{name}: {fault}" for name in names for fault in faults(pathlib.Path(name))]
    print("\n".join(wrong) if wrong else f"{len(names)} videos are well")
    return 1 if wrong or not names else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
