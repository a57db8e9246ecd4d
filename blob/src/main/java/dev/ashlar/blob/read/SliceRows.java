package dev.ashlar.blob.read;

import dev.ashlar.blob.DataUnavailableException;
import dev.ashlar.blob.DataUnavailableException.Reason;
import dev.ashlar.protocol.client.MetadataClient;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.client.ObjectRead;
import dev.ashlar.protocol.message.BlobRow;
import dev.ashlar.protocol.message.SliceValue;
import dev.ashlar.protocol.model.BlobId;
import java.util.List;

/** Reads the rows of the blobs of an object's slices. */
public final class SliceRows {
  private SliceRows() {}

  /** The rows of the slice's blob and of the following ones, as many as are read at once. */
  public static List<BlobRow> from(MetadataClient metadata, List<SliceValue> slices, int index)
      throws DataUnavailableException {
    return of(
        metadata,
        slices.subList(index, Math.min(slices.size(), index + ObjectRead.BLOBS_MAX)).stream()
            .map(slice -> BlobId.of(slice.getBlob()))
            .distinct()
            .toList());
  }

  static List<BlobRow> of(MetadataClient metadata, List<BlobId> ids)
      throws DataUnavailableException {
    try {
      return metadata.blobs(ids);
    } catch (MetadataUnavailableException e) {
      throw new DataUnavailableException(
          Reason.TOO_FEW_DRIVES, "metadata is unavailable: " + e.getMessage());
    }
  }
}
