package dev.ashlar.gateway.s3;

import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.protocol.message.Precondition;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.util.AsciiString;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.format.DateTimeFormatter;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The conditions of deletes besides ETags: the size and the time of what is to be deleted. */
public final class DeleteConditions {
  static final String SIZE = "x-amz-if-match-size";
  static final String TIME = "x-amz-if-match-last-modified-time";
  private static final List<AsciiString> NAMES =
      List.of(AsciiString.cached(SIZE), AsciiString.cached(TIME));
  private static final int SIZE_DIGITS_MAX = 18;

  private DeleteConditions() {}

  static Precondition of(HttpHeaders headers) throws S3Exception {
    return with(RequestHeaders.writeCondition(headers), headers.get(SIZE), headers.get(TIME));
  }

  /** Refuses the headers of these conditions with a request that does not heed them. */
  static void requireAbsent(HttpHeaders headers) throws S3Exception {
    for (AsciiString name : NAMES) {
      if (headers.contains(name)) {
        throw S3Exception.unsupportedHeader(name.toString());
      }
    }
  }

  /** Whether a condition asks for more than an ETag. */
  public static boolean areIn(Precondition condition) {
    return condition.hasIfSize() || condition.getIfLastModifiedMs() != 0;
  }

  /**
   * Adds conditions.
   *
   * @param size in bytes; null: no condition
   * @param time as HTTP writes it, or in ISO 8601; fractions of a second do not count; null: no
   *     condition
   * @throws S3Exception InvalidArgument
   */
  public static Precondition with(Precondition etags, @Nullable String size, @Nullable String time)
      throws S3Exception {
    Precondition.Builder all = etags.toBuilder();
    if (size != null) {
      all.setIfSize(size(size.trim()));
    }
    if (time != null) {
      all.setIfLastModifiedMs(seconds(time.trim()) * 1000);
    }
    return all.build();
  }

  private static long size(String text) throws S3Exception {
    boolean isNumber =
        !text.isEmpty()
            && text.length() <= SIZE_DIGITS_MAX
            && text.chars().allMatch(c -> c >= '0' && c <= '9');
    if (!isNumber) {
      throw S3Exception.invalidArgument("Invalid size", SIZE, text);
    }
    return Long.parseLong(text);
  }

  private static long seconds(String text) throws S3Exception {
    DateTimeFormatter format =
        text.indexOf(',') >= 0
            ? DateTimeFormatter.RFC_1123_DATE_TIME
            : DateTimeFormatter.ISO_OFFSET_DATE_TIME;
    try {
      long seconds = format.parse(text, Instant::from).getEpochSecond();
      if (seconds > 0) {
        return seconds;
      }
    } catch (DateTimeException e) {
      // Refused below.
    }
    throw S3Exception.invalidArgument("Invalid time", TIME, text);
  }
}
