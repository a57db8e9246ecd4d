package dev.ashlar.protocol.client;

import dev.ashlar.protocol.message.BlobRow;
import dev.ashlar.protocol.message.ObjectRecord;
import java.util.List;

/**
 * An object version and, of one snapshot, the blobs of its first slices.
 *
 * @param blobs the rows of the blobs of the first slices, in order, at most {@link #BLOBS_MAX} of
 *     them; ask {@link MetadataClient#blobs} for the others
 */
public record ObjectRead(ObjectRecord object, List<BlobRow> blobs) {
  public static final int BLOBS_MAX = 8;
}
