package dev.ashlar.gateway.notification;

import dev.ashlar.gateway.error.S3Error;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.notification.NotificationRule.Element;
import dev.ashlar.gateway.xml.XmlReader;
import dev.ashlar.gateway.xml.XmlWriter;
import dev.ashlar.protocol.message.EventRow;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The notification configuration of a bucket. No two rules match the same event, so an event has at
 * most one target.
 */
public record Notifications(List<NotificationRule> rules) {
  public static final Notifications NONE = new Notifications(List.of());

  private static final String ROOT = "NotificationConfiguration";
  private static final int RULES_MAX = 100;
  private static final int ID_CHARS_MAX = 255;
  private static final int VALUE_BYTES_MAX = 1024;
  private static final int DOCUMENT_BYTES_MAX = 64 << 10;

  public Notifications {
    rules = List.copyOf(rules);
  }

  /**
   * Reads a NotificationConfiguration.
   *
   * @param newId makes an id for a rule that has none
   * @throws S3Exception MalformedXML, InvalidArgument, NotImplemented, MaxMessageLengthExceeded
   */
  public static Notifications of(byte[] document, Supplier<String> newId) throws S3Exception {
    List<NotificationRule> rules = new ArrayList<>();
    for (XmlReader.Element child : XmlReader.read(document, ROOT).children()) {
      rules.add(rule(child, newId));
    }
    if (rules.size() > RULES_MAX) {
      throw S3Exception.invalidArgument(
          "A bucket can have up to " + RULES_MAX + " notification configurations",
          ROOT,
          Integer.toString(rules.size()));
    }
    requireDistinct(rules);
    Notifications all = new Notifications(rules);
    if (all.document().length > DOCUMENT_BYTES_MAX) {
      throw new S3Exception(S3Error.MAX_MESSAGE_LENGTH_EXCEEDED);
    }
    return all;
  }

  private static NotificationRule rule(XmlReader.Element configuration, Supplier<String> newId)
      throws S3Exception {
    Element element = element(configuration.name());
    String id = null;
    String target = null;
    List<String> events = new ArrayList<>();
    Set<EventName> named = new HashSet<>();
    Filter filter = null;
    for (XmlReader.Element child : configuration.children()) {
      String name = child.name();
      if (name.equals("Id")) {
        id = once(id, id(child.text()));
      } else if (name.equals("Event")) {
        events.add(child.text());
        named.addAll(EventName.named(child.text()));
      } else if (name.equals(element.targetText())) {
        target = once(target, child.text());
      } else if (name.equals("Filter")) {
        filter = once(filter, filter(child));
      } else if (name.equals("InvocationRole")) {
        throw new S3Exception(S3Error.NOT_IMPLEMENTED);
      } else {
        throw malformed();
      }
    }
    if (target == null || events.isEmpty()) {
      throw malformed();
    }
    Filter given = filter == null ? Filter.NONE : filter;
    return new NotificationRule(
        element,
        id == null || id.isEmpty() ? newId.get() : id,
        target,
        events,
        named,
        given.prefix,
        given.suffix);
  }

  private static Element element(String name) throws S3Exception {
    for (Element element : Element.values()) {
      if (element.text().equals(name)) {
        return element;
      }
    }
    throw name.equals("EventBridgeConfiguration")
        ? new S3Exception(S3Error.NOT_IMPLEMENTED)
        : malformed();
  }

  private static <T> T once(@Nullable T before, T value) throws S3Exception {
    if (before != null) {
      throw malformed();
    }
    return value;
  }

  private static String id(String text) throws S3Exception {
    if (text.length() > ID_CHARS_MAX) {
      throw S3Exception.invalidArgument(
          "ID length should not exceed allowed limit of " + ID_CHARS_MAX, "Id", text);
    }
    return text;
  }

  /** What keys begin and end with. */
  private record Filter(String prefix, String suffix) {
    static final Filter NONE = new Filter("", "");
  }

  private static Filter filter(XmlReader.Element filter) throws S3Exception {
    String prefix = null;
    String suffix = null;
    for (XmlReader.Element key : filter.children()) {
      if (!key.name().equals("S3Key")) {
        throw malformed();
      }
      for (XmlReader.Element rule : key.children()) {
        if (!rule.name().equals("FilterRule")) {
          throw malformed();
        }
        String value = value(rule.required("Value"));
        switch (rule.required("Name").toLowerCase(Locale.ROOT)) {
          case "prefix" -> prefix = onlyOne("prefix", prefix, value);
          case "suffix" -> suffix = onlyOne("suffix", suffix, value);
          default ->
              throw S3Exception.invalidArgument(
                  "filter rule name must be either prefix or suffix",
                  "FilterRule.Name",
                  rule.required("Name"));
        }
      }
    }
    return new Filter(prefix == null ? "" : prefix, suffix == null ? "" : suffix);
  }

  private static String onlyOne(String name, @Nullable String before, String value)
      throws S3Exception {
    if (before != null) {
      throw S3Exception.invalidArgument(
          "Cannot specify more than one " + name + " rule in a filter.", "FilterRule.Name", name);
    }
    return value;
  }

  private static String value(String text) throws S3Exception {
    if (text.getBytes(StandardCharsets.UTF_8).length > VALUE_BYTES_MAX) {
      throw S3Exception.invalidArgument(
          "Size of filter rule value cannot exceed "
              + VALUE_BYTES_MAX
              + " bytes in UTF-8"
              + " representation",
          "FilterRule.Value",
          text);
    }
    return text;
  }

  private static void requireDistinct(List<NotificationRule> rules) throws S3Exception {
    Set<String> ids = new HashSet<>();
    for (int i = 0; i < rules.size(); i++) {
      NotificationRule rule = rules.get(i);
      if (!ids.add(rule.id())) {
        throw S3Exception.invalidArgument(
            "Same ID used for multiple configurations. IDs must be unique", "Id", rule.id());
      }
      for (NotificationRule other : rules.subList(0, i)) {
        if (rule.overlaps(other)) {
          throw S3Exception.invalidArgument(
              "Configuration is ambiguously defined. Cannot have overlapping suffixes in two rules"
                  + " if the prefixes are overlapping for the same event type.",
              "Id",
              rule.id());
        }
      }
    }
  }

  private static S3Exception malformed() {
    return new S3Exception(S3Error.MALFORMED_XML);
  }

  /**
   * Reads what was stored.
   *
   * @throws IllegalArgumentException if a later build has stored something else
   */
  public static Notifications stored(byte[] document) {
    try {
      return of(document, () -> "");
    } catch (S3Exception e) {
      throw new IllegalArgumentException("not a notification configuration of this build", e);
    }
  }

  /** In the form in which S3 answers it. */
  public byte[] document() {
    XmlWriter xml = new XmlWriter().openRoot(ROOT);
    for (NotificationRule rule : rules) {
      xml.open(rule.element().text()).element("Id", rule.id());
      xml.element(rule.element().targetText(), rule.target());
      rule.events().forEach(event -> xml.element("Event", event));
      if (!rule.prefix().isEmpty() || !rule.suffix().isEmpty()) {
        xml.open("Filter").open("S3Key");
        filter(xml, "prefix", rule.prefix());
        filter(xml, "suffix", rule.suffix());
        xml.close().close();
      }
      xml.close();
    }
    return xml.close().toBytes();
  }

  private static void filter(XmlWriter xml, String name, String value) {
    if (!value.isEmpty()) {
      xml.open("FilterRule").element("Name", name).element("Value", value).close();
    }
  }

  /** The ARNs of all targets. */
  public Set<String> targets() {
    Set<String> targets = new TreeSet<>();
    rules.forEach(rule -> targets.add(rule.target()));
    return targets;
  }

  /** The kinds of events that metadata has to write: bit n for kind n. */
  public int kinds() {
    int kinds = 0;
    for (NotificationRule rule : rules) {
      for (EventName event : rule.named()) {
        kinds |= event.kinds();
      }
    }
    return kinds;
  }

  /** The rule by which somebody is told of the event; empty: nobody is. */
  public Optional<NotificationRule> rule(EventRow event) {
    EventName name = EventName.of(event);
    return rules.stream().filter(rule -> rule.matches(name, event.getKey())).findFirst();
  }
}
