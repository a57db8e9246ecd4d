package dev.ashlar.it.imports;

import dev.ashlar.it.harness.Content;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.core.ResponseBytes;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.ChecksumMode;
import software.amazon.awssdk.services.s3.model.DeleteMarkerEntry;
import software.amazon.awssdk.services.s3.model.GetObjectResponse;
import software.amazon.awssdk.services.s3.model.ObjectVersion;
import software.amazon.awssdk.services.s3.model.Tag;
import software.amazon.awssdk.services.s3.paginators.ListObjectVersionsIterable;

/** All that a bucket has, so that two can be compared. */
final class Contents {
  private Contents() {}

  /** What is before what among the versions of a key. */
  enum Order {
    /** Ids of Ashlar ascend; times have whole seconds. */
    BY_ID,
    BY_TIME
  }

  private record Found(boolean isMarker, String id, long millis) {}

  /** Versions of each key in a form that can be compared and read, oldest first. */
  static Map<String, List<String>> of(Store store, String bucket, Order order) {
    Map<String, List<Found>> found = new TreeMap<>();
    ListObjectVersionsIterable pages =
        store.s3().listObjectVersionsPaginator(r -> r.bucket(bucket));
    for (ObjectVersion each : pages.versions()) {
      add(
          found,
          each.key(),
          new Found(false, each.versionId(), each.lastModified().toEpochMilli()));
    }
    for (DeleteMarkerEntry each : pages.deleteMarkers()) {
      add(found, each.key(), new Found(true, each.versionId(), each.lastModified().toEpochMilli()));
    }
    Map<String, List<String>> contents = new TreeMap<>();
    found.forEach(
        (key, versions) -> {
          versions.sort(
              order == Order.BY_ID
                  ? Comparator.comparing(Found::id)
                  : Comparator.comparing(Found::millis));
          contents.put(
              key,
              versions.stream()
                  .map(each -> each.isMarker() ? "marker" : text(store.s3(), bucket, key, each))
                  .toList());
        });
    return contents;
  }

  private static void add(Map<String, List<Found>> found, String key, Found version) {
    found.computeIfAbsent(key, k -> new ArrayList<>()).add(version);
  }

  private static String text(S3Client s3, String bucket, String key, Found version) {
    ResponseBytes<GetObjectResponse> object =
        s3.getObjectAsBytes(
            r ->
                r.bucket(bucket)
                    .key(key)
                    .versionId(version.id())
                    .checksumMode(ChecksumMode.ENABLED));
    GetObjectResponse head = object.response();
    List<String> tags =
        s3
            .getObjectTagging(r -> r.bucket(bucket).key(key).versionId(version.id()))
            .tagSet()
            .stream()
            .map(Contents::text)
            .sorted()
            .toList();
    return String.join(
        " ",
        head.eTag(),
        "" + head.contentLength(),
        Content.sha256(object.asByteArray()),
        text(head.contentType()),
        text(head.cacheControl()),
        text(head.contentDisposition()),
        text(head.contentLanguage()),
        "" + new TreeMap<>(head.metadata()),
        "" + tags,
        text(head.objectLockMode()),
        text(head.objectLockRetainUntilDate()),
        text(head.objectLockLegalHoldStatus()),
        text(head.checksumSHA256()));
  }

  private static String text(Tag tag) {
    return tag.key() + "=" + tag.value();
  }

  private static String text(@Nullable Object value) {
    return Objects.toString(value, "-");
  }
}
