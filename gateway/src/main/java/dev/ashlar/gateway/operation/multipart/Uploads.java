package dev.ashlar.gateway.operation.multipart;

import dev.ashlar.gateway.error.S3Error;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.protocol.client.MetadataClient;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.message.PartRow;
import dev.ashlar.protocol.message.UploadRow;
import java.util.ArrayList;
import java.util.List;

/** Finds multipart uploads and their parts. */
record Uploads(MetadataClient metadata) {
  static final int PARTS_PAGE = 1000;

  /** The upload, or NoSuchUpload. */
  UploadRow require(String bucket, String key, String uploadId)
      throws S3Exception, MetadataUnavailableException {
    return metadata.upload(bucket, key, uploadId).orElseThrow(() -> noSuchUpload(uploadId));
  }

  static S3Exception noSuchUpload(String uploadId) {
    return new S3Exception(S3Error.NO_SUCH_UPLOAD).with("UploadId", uploadId);
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
