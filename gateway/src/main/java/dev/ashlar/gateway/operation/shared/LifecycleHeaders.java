package dev.ashlar.gateway.operation.shared;

import dev.ashlar.gateway.access.AccessControl.Permit;
import dev.ashlar.gateway.lifecycle.LifecycleCalendar;
import dev.ashlar.gateway.lifecycle.LifecycleRules;
import dev.ashlar.gateway.s3.S3Dates;
import dev.ashlar.gateway.uri.Percent;
import dev.ashlar.protocol.message.ObjectRecord;
import dev.ashlar.protocol.message.Tag;
import dev.ashlar.protocol.message.UploadRow;
import io.netty.handler.codec.http.HttpHeaders;
import java.util.List;

/** Tells in answers what will become of an object or upload by the rules of its bucket. */
public final class LifecycleHeaders {
  /** The last midnight that dates in headers can express. */
  private static final long LAST_MS = 253_402_214_400_000L;

  private LifecycleHeaders() {}

  /** When the present version of a key expires. */
  public static void addExpiration(
      HttpHeaders headers, Permit permit, String key, ObjectRecord object) {
    addExpiration(
        headers,
        permit,
        key,
        object.getSummary().getSize(),
        object.getFacts().getTagsList(),
        object.getSummary().getLastModifiedMs());
  }

  /** When an object expires that was just written. */
  public static void addExpiration(
      HttpHeaders headers, Permit permit, String key, long size, List<Tag> tags, long writtenMs) {
    LifecycleRules rules = permit.config().lifecycle();
    if (rules != null) {
      rules
          .expiration(key, size, tags, writtenMs, LifecycleCalendar.REAL)
          .ifPresent(
              due ->
                  headers.set(
                      "x-amz-expiration",
                      "expiry-date=\"%s\", rule-id=\"%s\""
                          .formatted(
                              S3Dates.http(Math.min(due.timeMs(), LAST_MS)),
                              Percent.encode(due.ruleId()))));
    }
  }

  /** When an upload is aborted if it is not completed before. */
  public static void addAbort(HttpHeaders headers, Permit permit, UploadRow upload) {
    LifecycleRules rules = permit.config().lifecycle();
    if (rules != null) {
      rules
          .abort(upload.getKey(), upload.getInitiatedAtMs(), LifecycleCalendar.REAL)
          .ifPresent(
              due ->
                  headers
                      .set("x-amz-abort-date", S3Dates.http(Math.min(due.timeMs(), LAST_MS)))
                      .set("x-amz-abort-rule-id", Percent.encode(due.ruleId())));
    }
  }
}
