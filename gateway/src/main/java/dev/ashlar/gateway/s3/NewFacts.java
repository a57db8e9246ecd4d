package dev.ashlar.gateway.s3;

import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.protocol.message.ObjectFacts;
import io.netty.handler.codec.http.HttpHeaders;
import java.util.ArrayList;
import java.util.List;

/** What the headers of a write give a new version besides its content and its metadata. */
public record NewFacts(TagSet tags) {
  public static final NewFacts NONE = new NewFacts(TagSet.NONE);

  static NewFacts of(HttpHeaders headers) throws S3Exception {
    return new NewFacts(TagSet.of(headers));
  }

  /** Refuses headers that only writes of versions heed. */
  static void requireAbsent(HttpHeaders headers) throws S3Exception {
    if (headers.getAll(TagSet.HEADER).stream().anyMatch(value -> !value.isBlank())) {
      throw S3Exception.unsupportedHeader(TagSet.HEADER);
    }
  }

  /** What the write needs: the action itself, and those for what the headers give. */
  List<String> needed(String action) {
    List<String> actions = new ArrayList<>(2);
    actions.add(action);
    if (!tags.isEmpty()) {
      actions.add("s3:PutObjectTagging");
    }
    return actions;
  }

  public ObjectFacts facts() {
    return ObjectFacts.newBuilder().addAllTags(tags.tags()).build();
  }
}
