package dev.ashlar.protocol.client;

import dev.ashlar.protocol.message.BlobRow;
import dev.ashlar.protocol.message.ObjectRecord;
import java.util.List;

/**
 * An object version and the blobs of its first slices, from one snapshot.
 *
 * @param blobs the rows of the first slices' blobs, in order, at most {@link #BLOBS_MAX}; {@link
 *     MetadataClient#blobs} returns the others
 */
public record ObjectRead(ObjectRecord object, List<BlobRow> blobs) {
  public static final int BLOBS_MAX = 8;
}
