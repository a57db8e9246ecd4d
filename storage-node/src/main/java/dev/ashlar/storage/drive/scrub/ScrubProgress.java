package dev.ashlar.storage.drive.scrub;

import dev.ashlar.protocol.model.DriveId;

/**
 * How far a drive is with reading all that it holds.
 *
 * @param running whether a pass is under way, and not waiting for its time
 * @param startedMs when the pass began that is under way, or the last one
 * @param finishedMs when the last full pass ended; 0: there was none
 * @param segmentsDone of the pass
 * @param segmentsLeft of the pass
 * @param verifiedBytes of the pass, those that compaction moved twice
 * @param damagedBlocks that the pass has found
 * @param unreadableDirectories batches of the log of which the pass could not read what they hold
 */
public record ScrubProgress(
    DriveId drive,
    boolean running,
    long startedMs,
    long finishedMs,
    long segmentsDone,
    long segmentsLeft,
    long verifiedBytes,
    long damagedBlocks,
    long unreadableDirectories) {}
