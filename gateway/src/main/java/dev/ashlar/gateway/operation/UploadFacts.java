package dev.ashlar.gateway.operation;

import dev.ashlar.gateway.encryption.key.KeyDescription;
import dev.ashlar.gateway.s3.S3Request;
import dev.ashlar.protocol.client.MetadataClient;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.message.KeyProtection;
import dev.ashlar.protocol.message.ObjectFacts;
import dev.ashlar.protocol.message.UploadRow;
import java.util.List;
import java.util.Optional;

/**
 * How the object of an upload will be encrypted, for policies that ask about its parts: their
 * requests do not say. Only such policies cost a read.
 */
record UploadFacts(MetadataClient metadata, S3Request.UploadRequest request) {
  /** The fact cannot be had now. Conditions cannot throw what is checked. */
  static final class UnknownException extends RuntimeException {
    private static final long serialVersionUID = 1;

    private final MetadataUnavailableException why;

    UnknownException(MetadataUnavailableException why) {
      super(why);
      this.why = why;
    }

    MetadataUnavailableException why() {
      return why;
    }
  }

  /** The value of x-amz-server-side-encryption with which the upload began, or that it got. */
  List<String> algorithm() {
    return key()
        .map(KeyDescription::protection)
        .map(
            protection ->
                switch (protection) {
                  case KEY_PROTECTION_MASTER -> List.of("AES256");
                  case KEY_PROTECTION_KMS -> List.of("aws:kms");
                  case KEY_PROTECTION_CUSTOMER, KEY_PROTECTION_NONE, UNRECOGNIZED ->
                      List.<String>of();
                })
        .orElse(List.of());
  }

  /** The id of its KMS key. */
  List<String> kmsKeyId() {
    return key()
        .filter(key -> key.protection() == KeyProtection.KEY_PROTECTION_KMS)
        .map(key -> List.of(key.keyId()))
        .orElse(List.of());
  }

  private Optional<KeyDescription> key() {
    try {
      return metadata
          .upload(request.bucket(), request.key(), request.uploadId())
          .map(UploadRow::getFacts)
          .map(ObjectFacts::getWrappedKey)
          .flatMap(KeyDescription::of);
    } catch (MetadataUnavailableException e) {
      throw new UnknownException(e);
    }
  }
}
