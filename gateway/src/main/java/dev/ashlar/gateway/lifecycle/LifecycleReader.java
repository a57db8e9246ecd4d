package dev.ashlar.gateway.lifecycle;

import dev.ashlar.gateway.error.S3Error;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.xml.XmlReader;
import dev.ashlar.gateway.xml.XmlReader.Element;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Reads a LifecycleConfiguration document, in its new form or the old one, and checks it. */
public final class LifecycleReader {
  private static final int RULES_MAX = 1000;
  private static final int ID_CHARS_MAX = 255;

  private static final Set<String> RULE_FIELDS =
      Set.of(
          "ID",
          "Prefix",
          "Filter",
          "Status",
          "Expiration",
          "NoncurrentVersionExpiration",
          "AbortIncompleteMultipartUpload");

  private static final String TRANSITION = "Transition";
  private static final String NONCURRENT_TRANSITION = "NoncurrentVersionTransition";

  private LifecycleReader() {}

  /**
   * The rules.
   *
   * @param newId makes an id for each rule that has none
   * @throws S3Exception MalformedXML, InvalidArgument, InvalidRequest
   */
  public static List<LifecycleRule> read(byte[] document, Supplier<String> newId)
      throws S3Exception {
    List<Element> elements = XmlReader.read(document, "LifecycleConfiguration").children();
    if (elements.isEmpty() || elements.size() > RULES_MAX) {
      throw malformed();
    }
    List<LifecycleRule> rules = new ArrayList<>();
    Set<String> ids = new HashSet<>();
    for (Element element : elements) {
      if (!element.name().equals("Rule")) {
        throw malformed();
      }
      LifecycleRule rule = rule(element, newId);
      if (!ids.add(rule.id())) {
        throw S3Exception.invalidArgument(
            "Rule ID must be unique. Found same ID for more than one rule", "ID", rule.id());
      }
      rules.add(rule);
    }
    return rules;
  }

  private static S3Exception malformed() {
    return new S3Exception(S3Error.MALFORMED_XML);
  }

  private static LifecycleRule rule(Element element, Supplier<String> newId) throws S3Exception {
    List<Element> once = new ArrayList<>();
    List<LifecycleRule.Transition> transitions = new ArrayList<>();
    List<LifecycleRule.NoncurrentTransition> noncurrentTransitions = new ArrayList<>();
    for (Element child : element.children()) {
      switch (child.name()) {
        case TRANSITION -> transitions.add(transition(child));
        case NONCURRENT_TRANSITION -> noncurrentTransitions.add(noncurrentTransition(child));
        default -> once.add(child);
      }
    }
    Element fields = new Element(element.name(), once, "");
    LifecycleFields.require(fields, RULE_FIELDS);
    LifecycleFilter filter = LifecycleFilters.read(fields);
    LifecycleRule rule =
        new LifecycleRule(
            id(fields.childText("ID"), newId),
            isEnabled(fields.required("Status")),
            filter,
            expiration(fields.child("Expiration")),
            transitions,
            noncurrentExpiration(fields.child("NoncurrentVersionExpiration")),
            noncurrentTransitions,
            abortDays(fields.child("AbortIncompleteMultipartUpload")));
    LifecycleConsistency.require(rule);
    return rule;
  }

  private static String id(@Nullable String given, Supplier<String> newId) throws S3Exception {
    if (given == null || given.isEmpty()) {
      return newId.get();
    }
    if (given.length() > ID_CHARS_MAX) {
      throw S3Exception.invalidArgument(
          "ID length should not exceed allowed limit of " + ID_CHARS_MAX, "ID", given);
    }
    return given;
  }

  private static boolean isEnabled(String status) throws S3Exception {
    return switch (status) {
      case "Enabled" -> true;
      case "Disabled" -> false;
      default -> throw malformed();
    };
  }

  private static LifecycleRule.@Nullable Expiration expiration(@Nullable Element element)
      throws S3Exception {
    if (element == null) {
      return null;
    }
    LifecycleFields.require(element, Set.of("Days", "Date", "ExpiredObjectDeleteMarker"));
    if (element.children().size() != 1) {
      throw malformed();
    }
    String ofMarkers = element.childText("ExpiredObjectDeleteMarker");
    if (ofMarkers == null) {
      return new LifecycleRule.Expiration(when(element, 1, "Expiration"), false);
    }
    return switch (ofMarkers) {
      case "true" -> new LifecycleRule.Expiration(null, true);
      case "false" -> new LifecycleRule.Expiration(null, false);
      default -> throw malformed();
    };
  }

  private static LifecycleRule.Transition transition(Element element) throws S3Exception {
    LifecycleFields.require(element, Set.of("Days", "Date", "StorageClass"));
    return new LifecycleRule.Transition(when(element, 0, TRANSITION), storageClass(element));
  }

  private static String storageClass(Element element) throws S3Exception {
    String name = element.required("StorageClass");
    if (name.isEmpty()) {
      throw malformed();
    }
    return name;
  }

  private static When when(Element element, int daysMin, String action) throws S3Exception {
    String days = element.childText("Days");
    String date = element.childText("Date");
    if (days != null && date == null) {
      return new When.Days(LifecycleFields.days(days, "Days", daysMin, action));
    }
    if (date != null && days == null) {
      return new When.Date(LifecycleFields.date(date));
    }
    throw malformed();
  }

  private static LifecycleRule.@Nullable NoncurrentExpiration noncurrentExpiration(
      @Nullable Element element) throws S3Exception {
    if (element == null) {
      return null;
    }
    LifecycleFields.require(element, Set.of("NoncurrentDays", "NewerNoncurrentVersions"));
    return new LifecycleRule.NoncurrentExpiration(
        noncurrentDays(element, 1, "NoncurrentVersionExpiration"),
        LifecycleFields.newerKept(element, "NoncurrentVersionExpiration"));
  }

  private static LifecycleRule.NoncurrentTransition noncurrentTransition(Element element)
      throws S3Exception {
    LifecycleFields.require(
        element, Set.of("NoncurrentDays", "NewerNoncurrentVersions", "StorageClass"));
    return new LifecycleRule.NoncurrentTransition(
        noncurrentDays(element, 0, NONCURRENT_TRANSITION),
        LifecycleFields.newerKept(element, NONCURRENT_TRANSITION),
        storageClass(element));
  }

  private static int noncurrentDays(Element element, int min, String action) throws S3Exception {
    return LifecycleFields.days(element.required("NoncurrentDays"), "NoncurrentDays", min, action);
  }

  private static int abortDays(@Nullable Element element) throws S3Exception {
    if (element == null) {
      return 0;
    }
    LifecycleFields.require(element, Set.of("DaysAfterInitiation"));
    return LifecycleFields.days(
        element.required("DaysAfterInitiation"),
        "DaysAfterInitiation",
        1,
        "AbortIncompleteMultipartUpload");
  }
}
