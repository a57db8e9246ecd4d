package dev.ashlar.gateway.operation.multipart;

import dev.ashlar.gateway.auth.Authenticator.PayloadBody;
import dev.ashlar.gateway.checksum.Checksums;
import dev.ashlar.gateway.encryption.EncryptionHeaders;
import dev.ashlar.gateway.encryption.key.DataKey;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.exchange.HttpAnswer;
import dev.ashlar.gateway.operation.shared.Answers;
import dev.ashlar.gateway.operation.shared.Backend;
import dev.ashlar.gateway.operation.shared.BodyIngest;
import dev.ashlar.gateway.operation.shared.ContentWriter;
import dev.ashlar.gateway.operation.shared.ErrorMapping;
import dev.ashlar.gateway.operation.shared.NewKey;
import dev.ashlar.gateway.operation.shared.StorageClass;
import dev.ashlar.gateway.s3.S3Request;
import dev.ashlar.protocol.client.UnavailableException;
import dev.ashlar.protocol.message.ChecksumAlgorithm;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.EncryptedRun;
import dev.ashlar.protocol.message.PartRow;
import dev.ashlar.protocol.message.PutPart;
import dev.ashlar.protocol.message.UploadRow;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.util.HexFormat;
import javax.crypto.Mac;

/** Stores a part. */
public record UploadPartHandler(Backend backend) {
  private static final String MAC = "HmacSHA256";
  private static final int ETAG_BYTES = 16;

  public HttpAnswer handle(S3Request.UploadPart request, PayloadBody body)
      throws S3Exception, UnavailableException, InterruptedException {
    UploadRow upload = Uploads.require(backend, request);
    requireSameChecksum(upload.getChecksumAlgorithm(), request.announced());
    BodyIngest.chooseChecksum(body, request.announced(), upload.getChecksumAlgorithm());
    int profile = StorageClass.of(backend, upload).profile().number();
    NewKey key = Uploads.key(backend, upload, request.customer());
    try (ContentWriter writer = ContentWriter.begin(backend, profile, body.length(), key)) {
      String copied = BodyIngest.copy(body, writer, backend.random());
      String etag =
          writer.hasMd5() || key == null ? copied : etag(key.key(), body, writer.length());
      PartRow.Builder part =
          PartRow.newBuilder()
              .setNumber(request.partNumber())
              .setSize(writer.length())
              .setEtag(etag)
              .setChecksum(body.checksum());
      EncryptedRun run = writer.run();
      if (run != null) {
        part.setRun(run);
      }
      ErrorMapping.requireOk(
          writer.commit(
              blobs ->
                  Command.newBuilder()
                      .setPutPart(
                          PutPart.newBuilder()
                              .setBucket(request.bucket())
                              .setKey(request.key())
                              .setUploadId(request.uploadId())
                              .setPart(part)
                              .addAllBlobs(blobs))));
      HttpAnswer answer = Answers.stored(etag, body.checksum(), false);
      EncryptionHeaders.add(answer.headers(), upload.getFacts(), request.customer());
      return answer;
    }
  }

  /**
   * An ETag that is none of the bytes: 32 digits that are the same if they are sent again, since
   * clients may complete the upload with the first answer. Without the key of the upload they tell
   * nothing.
   */
  private static String etag(DataKey key, PayloadBody body, long length) {
    try {
      Mac mac = Mac.getInstance(MAC);
      mac.init(key);
      mac.update(("etag " + length + ' ').getBytes(StandardCharsets.UTF_8));
      byte[] digits = mac.doFinal(body.checksum().toByteArray());
      return HexFormat.of().formatHex(digits, 0, ETAG_BYTES);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException(e);
    }
  }

  private static void requireSameChecksum(ChecksumAlgorithm ofUpload, ChecksumAlgorithm ofPart)
      throws S3Exception {
    boolean isMismatch =
        ofUpload != ChecksumAlgorithm.CHECKSUM_NONE
            && ofPart != ChecksumAlgorithm.CHECKSUM_NONE
            && ofUpload != ofPart;
    if (isMismatch) {
      throw Checksums.mismatch(ofUpload, ofPart);
    }
  }
}
