package dev.ashlar.gateway.s3;

import dev.ashlar.gateway.error.S3Error;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.xml.XmlReader;
import dev.ashlar.gateway.xml.XmlReader.Element;
import dev.ashlar.protocol.message.DefaultRetention;
import dev.ashlar.protocol.message.ObjectLock;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.util.AsciiString;
import java.time.DateTimeException;
import java.time.OffsetDateTime;
import java.time.format.DateTimeFormatter;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Reads retentions and legal holds from headers and documents. */
public final class LockValues {
  static final String MODE = "x-amz-object-lock-mode";
  static final String UNTIL = "x-amz-object-lock-retain-until-date";
  static final String HOLD = "x-amz-object-lock-legal-hold";
  private static final AsciiString MODE_NAME = AsciiString.cached(MODE);
  private static final AsciiString UNTIL_NAME = AsciiString.cached(UNTIL);
  private static final AsciiString HOLD_NAME = AsciiString.cached(HOLD);
  static final List<AsciiString> HEADERS = List.of(MODE_NAME, UNTIL_NAME, HOLD_NAME);

  private static final int DAYS_MAX = 36_500;
  private static final int YEARS_MAX = 100;
  private static final int YEAR_MAX = 9999;
  private static final int DIGITS_MAX = 9;

  private LockValues() {}

  /**
   * The lock that the headers of a write ask for.
   *
   * @throws S3Exception InvalidArgument
   */
  static ObjectLock of(HttpHeaders headers) throws S3Exception {
    ObjectLock.Builder lock = ObjectLock.newBuilder();
    String mode = headers.get(MODE_NAME);
    String until = headers.get(UNTIL_NAME);
    if ((mode == null) != (until == null)) {
      throw S3Exception.invalidArgument(
          UNTIL + " and " + MODE + " must both be supplied", mode == null ? MODE : UNTIL, "");
    }
    if (mode != null && until != null) {
      ObjectLock.Mode known = mode(mode);
      if (known == null) {
        throw S3Exception.invalidArgument("Unknown wormMode directive.", MODE, mode);
      }
      long untilMs = date(until);
      if (untilMs < 0) {
        throw S3Exception.invalidArgument(
            "The retain until date must be provided in ISO 8601 format", UNTIL, until);
      }
      lock.setMode(known).setRetainUntilMs(untilMs);
    }
    String hold = headers.get(HOLD_NAME);
    if (hold != null) {
      if (!hold.equals("ON") && !hold.equals("OFF")) {
        throw S3Exception.invalidArgument("Legal Hold must be either of 'ON' or 'OFF'", HOLD, hold);
      }
      lock.setLegalHold(hold.equals("ON")).setLegalHoldTold(true);
    }
    return lock.build();
  }

  private static ObjectLock.@Nullable Mode mode(@Nullable String name) {
    if (name == null) {
      return null;
    }
    return switch (name) {
      case "GOVERNANCE" -> ObjectLock.Mode.GOVERNANCE;
      case "COMPLIANCE" -> ObjectLock.Mode.COMPLIANCE;
      default -> null;
    };
  }

  /** Milliseconds since 1970, or -1 for what is no date after that. */
  private static long date(String text) {
    try {
      OffsetDateTime date =
          OffsetDateTime.parse(text.trim(), DateTimeFormatter.ISO_OFFSET_DATE_TIME);
      // 0 stands for no date.
      return date.getYear() > YEAR_MAX ? -1 : Math.max(1, date.toInstant().toEpochMilli());
    } catch (DateTimeException e) {
      return -1;
    }
  }

  /**
   * The retention in a document; without a mode, the one there is to be removed.
   *
   * @throws S3Exception MalformedXML
   */
  public static ObjectLock retention(byte[] document) throws S3Exception {
    Element retention = XmlReader.read(document, "Retention");
    if (retention.children().isEmpty()) {
      return ObjectLock.getDefaultInstance();
    }
    ObjectLock.Mode mode = mode(retention.required("Mode"));
    long untilMs = date(retention.required("RetainUntilDate"));
    if (mode == null || untilMs < 0) {
      throw new S3Exception(S3Error.MALFORMED_XML);
    }
    return ObjectLock.newBuilder().setMode(mode).setRetainUntilMs(untilMs).build();
  }

  /**
   * The legal hold in a document.
   *
   * @throws S3Exception MalformedXML
   */
  public static ObjectLock legalHold(byte[] document) throws S3Exception {
    boolean isOn =
        switch (XmlReader.read(document, "LegalHold").required("Status")) {
          case "ON" -> true;
          case "OFF" -> false;
          default -> throw new S3Exception(S3Error.MALFORMED_XML);
        };
    return ObjectLock.newBuilder().setLegalHold(isOn).setLegalHoldTold(true).build();
  }

  /**
   * The retention that the configuration of a bucket gives versions which are written without one;
   * null for none.
   *
   * @throws S3Exception MalformedXML, InvalidRetentionPeriod
   */
  public static @Nullable DefaultRetention configuration(byte[] document) throws S3Exception {
    Element configuration = XmlReader.read(document, "ObjectLockConfiguration");
    if (!configuration.required("ObjectLockEnabled").equals("Enabled")) {
      throw new S3Exception(S3Error.MALFORMED_XML);
    }
    Element rule = configuration.child("Rule");
    if (rule == null) {
      return null;
    }
    Element retention = rule.child("DefaultRetention");
    ObjectLock.Mode mode = retention == null ? null : mode(retention.childText("Mode"));
    if (retention == null || mode == null) {
      throw new S3Exception(S3Error.MALFORMED_XML);
    }
    String days = retention.childText("Days");
    String years = retention.childText("Years");
    if ((days == null) == (years == null)) {
      throw new S3Exception(S3Error.MALFORMED_XML);
    }
    DefaultRetention.Builder wanted = DefaultRetention.newBuilder().setMode(mode);
    return days != null
        ? wanted.setDays(period(days, DAYS_MAX)).build()
        : wanted.setYears(period(String.valueOf(years), YEARS_MAX)).build();
  }

  private static int period(String text, int max) throws S3Exception {
    if (!text.trim().matches("-?[0-9]{1," + DIGITS_MAX + "}")) {
      throw new S3Exception(S3Error.MALFORMED_XML);
    }
    int period = Integer.parseInt(text.trim());
    if (period < 1) {
      throw new S3Exception(
          S3Error.INVALID_RETENTION_PERIOD,
          "Default retention period must be a positive integer value.");
    }
    if (period > max) {
      throw new S3Exception(
          S3Error.INVALID_RETENTION_PERIOD, "Default retention period is too large.");
    }
    return period;
  }
}
