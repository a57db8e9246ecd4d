package dev.ashlar.it.linear;

import dev.ashlar.it.harness.Content;
import dev.ashlar.it.harness.RawConnection.Answer;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What was answered.
 *
 * @param what the status and, of an error, its code
 * @param id x-amz-version-id; empty: none
 * @param isMarker x-amz-delete-marker
 * @param sha256 of what was read; empty if nothing was
 * @param listed of a listing: the ids in its order
 */
record VersionReply(String what, String id, boolean isMarker, String sha256, List<String> listed) {
  private static final Pattern ID = Pattern.compile("<VersionId>([^<]*)</VersionId>");

  static VersionReply of(VersionCall call, Answer answer) {
    boolean isFailure = answer.status() >= 300;
    List<String> listed = new ArrayList<>();
    if (call instanceof VersionCall.ListVersions && !isFailure) {
      Matcher ids = ID.matcher(answer.text());
      while (ids.find()) {
        listed.add(ids.group(1));
      }
    }
    boolean isRead = call instanceof VersionCall.Get || call instanceof VersionCall.GetVersion;
    return new VersionReply(
        isFailure ? answer.status() + " " + answer.code() : "" + answer.status(),
        answer.headers().getOrDefault("x-amz-version-id", ""),
        "true".equals(answer.headers().get("x-amz-delete-marker")),
        isRead && !isFailure ? Content.sha256(answer.body()) : "",
        List.copyOf(listed));
  }

  @Override
  public String toString() {
    return what + " " + id + (isMarker ? " marker" : "") + (listed.isEmpty() ? "" : " " + listed);
  }
}
