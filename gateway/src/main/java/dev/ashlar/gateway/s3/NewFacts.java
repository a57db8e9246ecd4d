package dev.ashlar.gateway.s3;

import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.protocol.message.ObjectFacts;
import dev.ashlar.protocol.message.ObjectLock;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.util.AsciiString;
import java.util.ArrayList;
import java.util.List;

/**
 * What the headers of a write give a new version besides its content and its metadata.
 *
 * @param lock retention and legal hold; each may be absent
 */
public record NewFacts(TagSet tags, ObjectLock lock) {
  public static final NewFacts NONE = new NewFacts(TagSet.NONE, ObjectLock.getDefaultInstance());

  static NewFacts of(HttpHeaders headers) throws S3Exception {
    return new NewFacts(TagSet.of(headers), LockValues.of(headers));
  }

  /** Without the tags. */
  NewFacts withoutTags() {
    return new NewFacts(TagSet.NONE, lock);
  }

  /** Refuses headers that only writes of versions heed. */
  static void requireAbsent(HttpHeaders headers) throws S3Exception {
    if (headers.contains(TagSet.HEADER)
        && headers.getAll(TagSet.HEADER).stream().anyMatch(value -> !value.isBlank())) {
      throw S3Exception.unsupportedHeader(TagSet.HEADER.toString());
    }
    for (AsciiString header : LockValues.HEADERS) {
      if (headers.contains(header)) {
        throw S3Exception.unsupportedHeader(header.toString());
      }
    }
  }

  public boolean asksForLock() {
    return !lock.equals(ObjectLock.getDefaultInstance());
  }

  /** What the write needs: the action itself, and those for what the headers give. */
  List<String> needed(String action) {
    List<String> actions = new ArrayList<>(4);
    actions.add(action);
    if (!tags.isEmpty()) {
      actions.add("s3:PutObjectTagging");
    }
    if (lock.getMode() != ObjectLock.Mode.NONE) {
      actions.add("s3:PutObjectRetention");
    }
    if (lock.getLegalHoldTold()) {
      actions.add("s3:PutObjectLegalHold");
    }
    return actions;
  }

  public ObjectFacts facts() {
    return ObjectFacts.newBuilder().addAllTags(tags.tags()).build();
  }
}
