package dev.ashlar.gateway.operation.multipart;

import dev.ashlar.gateway.encryption.CustomerFields;
import dev.ashlar.gateway.encryption.key.DataKey;
import dev.ashlar.gateway.error.S3Error;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.operation.shared.Backend;
import dev.ashlar.gateway.operation.shared.NewKey;
import dev.ashlar.gateway.s3.S3Request;
import dev.ashlar.protocol.client.MetadataClient;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.message.PartRow;
import dev.ashlar.protocol.message.UploadRow;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Finds multipart uploads and their parts. */
final class Uploads {
  static final int PARTS_PAGE = 1000;

  private Uploads() {}

  /** The upload, or NoSuchUpload. */
  static UploadRow require(Backend backend, S3Request.UploadRequest request)
      throws S3Exception, MetadataUnavailableException {
    return find(backend, request).orElseThrow(() -> noSuchUpload(request.uploadId()));
  }

  static Optional<UploadRow> find(Backend backend, S3Request.UploadRequest request)
      throws MetadataUnavailableException {
    return backend.metadata().upload(request.bucket(), request.key(), request.uploadId());
  }

  /**
   * The key that its parts are encrypted with; null: they are not.
   *
   * @param given for SSE-C
   * @throws S3Exception if the key cannot be opened, or not with what is given
   */
  static @Nullable NewKey key(Backend backend, UploadRow upload, CustomerFields given)
      throws S3Exception, InterruptedException {
    DataKey key = backend.encryptions().openUpload(upload.getFacts(), given);
    return key == null ? null : new NewKey(key, upload.getFacts().getWrappedKey());
  }

  static S3Exception noSuchUpload(String uploadId) {
    return new S3Exception(S3Error.NO_SUCH_UPLOAD).with("UploadId", uploadId);
  }

  static List<PartRow> allParts(MetadataClient metadata, UploadRow upload)
      throws MetadataUnavailableException {
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

  /** Who began it: not always who will own the object. */
  static String initiator(UploadRow upload) {
    return upload.getInitiator().isEmpty() ? upload.getOwner() : upload.getInitiator();
  }
}
