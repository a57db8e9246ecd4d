package dev.ashlar.importer;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.core.SdkResponse;
import software.amazon.awssdk.services.s3.model.ChecksumAlgorithm;
import software.amazon.awssdk.services.s3.model.ChecksumType;
import software.amazon.awssdk.services.s3.model.CreateMultipartUploadRequest;
import software.amazon.awssdk.services.s3.model.GetObjectResponse;
import software.amazon.awssdk.services.s3.model.HeadObjectResponse;
import software.amazon.awssdk.services.s3.model.ObjectLockLegalHoldStatus;
import software.amazon.awssdk.services.s3.model.ObjectLockMode;
import software.amazon.awssdk.services.s3.model.PutObjectRequest;
import software.amazon.awssdk.services.s3.model.ServerSideEncryption;

/**
 * What a version has beside its content and its tags.
 *
 * @param tags how many there are
 */
record Attributes(
    @Nullable String contentType,
    @Nullable String cacheControl,
    @Nullable String contentDisposition,
    @Nullable String contentEncoding,
    @Nullable String contentLanguage,
    @Nullable String expires,
    @Nullable String redirectLocation,
    Map<String, String> metadata,
    int tags,
    Lock lock,
    Checksum checksum,
    boolean isEtagOfOtherBytes) {
  /** The metadata that names the source's ETag where that of the copy cannot be the same. */
  static final String IMPORTED_ETAG = "imported-etag";

  /**
   * What some clients' uploads leave behind: it says how the bytes travelled, not what they are.
   */
  private static final String AWS_CHUNKED = "aws-chunked";

  /**
   * Retention and legal hold.
   *
   * @param until in whole seconds, as targets keep it; never earlier than at the source
   */
  record Lock(@Nullable ObjectLockMode mode, @Nullable Instant until, boolean isHeld) {
    static Lock of(
        @Nullable ObjectLockMode mode,
        @Nullable Instant until,
        @Nullable ObjectLockLegalHoldStatus hold) {
      return new Lock(mode, roundedUp(until), hold == ObjectLockLegalHoldStatus.ON);
    }

    private static @Nullable Instant roundedUp(@Nullable Instant time) {
      return time == null ? null : time.plusNanos(999_999_999).truncatedTo(ChronoUnit.SECONDS);
    }

    /** Without a retention that is over: it locks nothing, and cannot be set. */
    Lock at(Instant now) {
      return until == null || until.isAfter(now) ? this : new Lock(null, null, isHeld);
    }
  }

  /** Of the content, by one algorithm; the value is null if there is none. */
  record Checksum(
      @Nullable ChecksumAlgorithm algorithm, @Nullable String value, @Nullable ChecksumType type) {
    static final Checksum NONE = new Checksum(null, null, null);

    /** Of those that an object can have several of, the first. */
    private static final List<ChecksumAlgorithm> PREFERRED =
        List.of(
            ChecksumAlgorithm.CRC64_NVME,
            ChecksumAlgorithm.SHA512,
            ChecksumAlgorithm.SHA256,
            ChecksumAlgorithm.SHA1,
            ChecksumAlgorithm.MD5,
            ChecksumAlgorithm.XXHASH128,
            ChecksumAlgorithm.XXHASH3,
            ChecksumAlgorithm.XXHASH64,
            ChecksumAlgorithm.CRC32_C,
            ChecksumAlgorithm.CRC32);

    /** What an answer tells about an object. */
    static Checksum of(SdkResponse from, @Nullable ChecksumType type) {
      return PREFERRED.stream()
          .map(
              each ->
                  new Checksum(
                      each,
                      from.getValueForField("Checksum" + each, String.class).orElse(null),
                      type))
          .filter(each -> each.value() != null)
          .findFirst()
          .orElse(NONE);
    }
  }

  static Attributes of(GetObjectResponse from) {
    return new Attributes(
        from.contentType(),
        from.cacheControl(),
        from.contentDisposition(),
        encoding(from.contentEncoding()),
        from.contentLanguage(),
        from.expiresString(),
        from.websiteRedirectLocation(),
        from.metadata(),
        Objects.requireNonNullElse(from.tagCount(), 0),
        Lock.of(
            from.objectLockMode(),
            from.objectLockRetainUntilDate(),
            from.objectLockLegalHoldStatus()),
        Checksum.of(from, from.checksumType()),
        isByKey(from.serverSideEncryption()));
  }

  static Attributes of(HeadObjectResponse from) {
    return new Attributes(
        from.contentType(),
        from.cacheControl(),
        from.contentDisposition(),
        encoding(from.contentEncoding()),
        from.contentLanguage(),
        from.expiresString(),
        from.websiteRedirectLocation(),
        from.metadata(),
        Objects.requireNonNullElse(from.tagCount(), 0),
        Lock.of(
            from.objectLockMode(),
            from.objectLockRetainUntilDate(),
            from.objectLockLegalHoldStatus()),
        Checksum.of(from, from.checksumType()),
        isByKey(from.serverSideEncryption()));
  }

  /** With a key of a key service, the ETag is not that of the bytes that clients read. */
  private static boolean isByKey(@Nullable ServerSideEncryption encryption) {
    return encryption != null && encryption != ServerSideEncryption.AES256;
  }

  private static @Nullable String encoding(@Nullable String encodings) {
    if (encodings == null) {
      return null;
    }
    String rest =
        Stream.of(encodings.split(",", -1))
            .map(String::strip)
            .filter(each -> !each.isEmpty() && !each.equalsIgnoreCase(AWS_CHUNKED))
            .collect(Collectors.joining(","));
    return rest.isEmpty() ? null : rest;
  }

  /** The first header or piece of metadata that is not the original's, with both values. */
  Optional<String> difference(Attributes original) {
    Map<String, @Nullable String> wanted = original.headers();
    Map<String, @Nullable String> found = headers();
    for (Map.Entry<String, @Nullable String> each : wanted.entrySet()) {
      String value = found.get(each.getKey());
      if (!Objects.equals(each.getValue(), value)) {
        return Optional.of(
            "%s is %s instead of %s".formatted(each.getKey(), text(value), text(each.getValue())));
      }
    }
    return Optional.empty();
  }

  private static String text(@Nullable String value) {
    return value == null ? "absent" : "'" + value + "'";
  }

  private Map<String, @Nullable String> headers() {
    Map<String, @Nullable String> headers = new TreeMap<>();
    headers.put("Content-Type", contentType);
    headers.put("Cache-Control", cacheControl);
    headers.put("Content-Disposition", contentDisposition);
    headers.put("Content-Encoding", contentEncoding);
    headers.put("Content-Language", contentLanguage);
    headers.put("x-amz-website-redirect-location", redirectLocation);
    metadata.forEach((name, value) -> headers.put("x-amz-meta-" + name, value));
    return headers;
  }

  /** Whether it is retained at this time by itself. */
  boolean isRetained(Instant now) {
    return lock.at(now).mode() != null;
  }

  /** The same, with the source's ETag in the metadata. */
  Attributes withImportedEtag(String etag) {
    Map<String, String> more = new HashMap<>(metadata);
    more.put(IMPORTED_ETAG, etag);
    return new Attributes(
        contentType,
        cacheControl,
        contentDisposition,
        contentEncoding,
        contentLanguage,
        expires,
        redirectLocation,
        more,
        tags,
        lock,
        checksum,
        isEtagOfOtherBytes);
  }

  void put(PutObjectRequest.Builder request, Instant now) {
    Lock present = lock.at(now);
    request
        .contentType(contentType)
        .cacheControl(cacheControl)
        .contentDisposition(contentDisposition)
        .contentEncoding(contentEncoding)
        .contentLanguage(contentLanguage)
        .websiteRedirectLocation(redirectLocation)
        .metadata(metadata)
        .objectLockMode(present.mode())
        .objectLockRetainUntilDate(present.until());
    if (present.isHeld()) {
      request.objectLockLegalHoldStatus(ObjectLockLegalHoldStatus.ON);
    }
    if (expires != null) {
      request.overrideConfiguration(c -> c.putHeader("Expires", expires));
    }
    ChecksumAlgorithm algorithm = checksum.algorithm();
    if (algorithm != null && checksum.type() != ChecksumType.COMPOSITE) {
      switch (algorithm) {
        case CRC64_NVME -> request.checksumCRC64NVME(checksum.value());
        case SHA256 -> request.checksumSHA256(checksum.value());
        case SHA1 -> request.checksumSHA1(checksum.value());
        case CRC32_C -> request.checksumCRC32C(checksum.value());
        case SHA512 -> request.checksumSHA512(checksum.value());
        case MD5 -> request.checksumMD5(checksum.value());
        case XXHASH64 -> request.checksumXXHASH64(checksum.value());
        case XXHASH3 -> request.checksumXXHASH3(checksum.value());
        case XXHASH128 -> request.checksumXXHASH128(checksum.value());
        default -> request.checksumCRC32(checksum.value());
      }
    }
  }

  void put(CreateMultipartUploadRequest.Builder request, Instant now) {
    Lock present = lock.at(now);
    request
        .contentType(contentType)
        .cacheControl(cacheControl)
        .contentDisposition(contentDisposition)
        .contentEncoding(contentEncoding)
        .contentLanguage(contentLanguage)
        .websiteRedirectLocation(redirectLocation)
        .metadata(metadata)
        .objectLockMode(present.mode())
        .objectLockRetainUntilDate(present.until())
        .checksumAlgorithm(checksum.algorithm());
    if (checksum.algorithm() != null) {
      request.checksumType(checksum.type());
    }
    if (present.isHeld()) {
      request.objectLockLegalHoldStatus(ObjectLockLegalHoldStatus.ON);
    }
    if (expires != null) {
      request.overrideConfiguration(c -> c.putHeader("Expires", expires));
    }
  }
}
