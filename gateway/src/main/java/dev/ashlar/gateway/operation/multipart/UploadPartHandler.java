package dev.ashlar.gateway.operation.multipart;

import dev.ashlar.gateway.auth.Authenticator.PayloadBody;
import dev.ashlar.gateway.checksum.Checksums;
import dev.ashlar.gateway.encryption.EncryptionHeaders;
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

/** Stores a part. */
public record UploadPartHandler(Backend backend) {
  public HttpAnswer handle(S3Request.UploadPart request, PayloadBody body)
      throws S3Exception, UnavailableException, InterruptedException {
    UploadRow upload = Uploads.require(backend, request);
    requireSameChecksum(upload.getChecksumAlgorithm(), request.announced());
    BodyIngest.chooseChecksum(body, request.announced(), upload.getChecksumAlgorithm());
    int profile = StorageClass.of(backend, upload).profile().number();
    NewKey key = Uploads.key(backend, upload, request.customer());
    try (ContentWriter writer = ContentWriter.begin(backend, profile, body.length(), key)) {
      String etag = BodyIngest.copy(body, writer, backend.random());
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
