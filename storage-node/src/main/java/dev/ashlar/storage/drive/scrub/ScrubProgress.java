package dev.ashlar.storage.drive.scrub;

import dev.ashlar.protocol.model.DriveId;

/**
 * Progress of a drive's scrub.
 *
 * @param running whether a pass is running rather than waiting for its time
 * @param startedMs start of the current or last pass
 * @param finishedMs end of the last complete pass; 0: none
 * @param segmentsDone segments verified in the pass
 * @param segmentsLeft segments left in the pass
 * @param verifiedBytes bytes verified in the pass, counting moved ones twice
 * @param damagedBlocks damaged blocks found in the pass
 * @param unreadableDirectories batches with unreadable directories found in the pass
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
