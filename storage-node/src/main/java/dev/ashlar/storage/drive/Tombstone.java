package dev.ashlar.storage.drive;

import dev.ashlar.protocol.model.BlobId;

/**
 * A blob's deletion. It has to outlive every record of the blob that a replay can meet: those all
 * lie in the segments from the lowest to the highest named here.
 */
record Tombstone(BlobId blob, long lowestSegment, long highestSegment) {}
