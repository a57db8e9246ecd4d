package dev.ashlar.gateway.operation.multipart;

import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.operation.shared.Buckets;
import dev.ashlar.protocol.client.MetadataClient;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.message.PartRow;
import dev.ashlar.protocol.message.UploadRow;
import java.util.ArrayList;
import java.util.List;

/** Finds multipart uploads and their parts. */
public final class Uploads {
  static final int PARTS_PAGE = 1000;

  private final MetadataClient metadata;
  private final Buckets buckets;

  public Uploads(MetadataClient metadata, Buckets buckets) {
    this.metadata = metadata;
    this.buckets = buckets;
  }

  /** The upload, or the error that tells why there is none for this caller. */
  public UploadRow owned(String bucket, String key, String uploadId, String caller)
      throws S3Exception, MetadataUnavailableException {
    buckets.owned(bucket, caller);
    return metadata.upload(bucket, key, uploadId).orElseThrow(() -> Buckets.noSuchUpload(uploadId));
  }

  List<PartRow> allParts(UploadRow upload) throws MetadataUnavailableException {
    List<PartRow> parts = new ArrayList<>();
    int after = 0;
    while (true) {
      List<PartRow> page =
          metadata.parts(
              upload.getBucket(), upload.getKey(), upload.getUploadId(), after, PARTS_PAGE);
      parts.addAll(page);
      if (page.size() < PARTS_PAGE) {
        return parts;
      }
      after = page.getLast().getNumber();
    }
  }
}
