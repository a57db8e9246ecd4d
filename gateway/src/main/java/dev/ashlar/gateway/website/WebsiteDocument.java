package dev.ashlar.gateway.website;

import dev.ashlar.gateway.error.S3Error;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.website.Redirect.KeyChange;
import dev.ashlar.gateway.xml.XmlReader;
import dev.ashlar.gateway.xml.XmlReader.Element;
import dev.ashlar.gateway.xml.XmlWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The WebsiteConfiguration document of S3, in which form websites are also stored. */
public final class WebsiteDocument {
  private static final String ROOT = "WebsiteConfiguration";
  private static final int RULES_MAX = 50;

  /** It becomes a part of a header. */
  private static final Pattern HOST = Pattern.compile("[A-Za-z0-9.:_-]{1,255}");

  private WebsiteDocument() {}

  /**
   * @throws S3Exception MalformedXML, InvalidArgument or InvalidRequest
   */
  public static Website read(byte[] document) throws S3Exception {
    Element root = XmlReader.read(document, ROOT);
    Element all = root.child("RedirectAllRequestsTo");
    if (all != null) {
      if (root.children().size() != 1) {
        throw S3Exception.invalidRequest(
            "RedirectAllRequestsTo cannot be provided in conjunction with other routing rules.");
      }
      return new Website.Elsewhere(
          new Redirect(
              protocol(all.childText("Protocol")),
              host(all.required("HostName")),
              0,
              new KeyChange.None()));
    }
    Element index = root.child("IndexDocument");
    if (index == null) {
      throw S3Exception.invalidArgument(
          "A value for IndexDocument Suffix must be provided if RedirectAllRequestsTo is empty",
          "IndexDocument",
          "null");
    }
    return new Website.Pages(
        suffix(index.required("Suffix")),
        errorKey(root.child("ErrorDocument")),
        rules(root.child("RoutingRules")));
  }

  private static String suffix(String text) throws S3Exception {
    if (text.isEmpty() || text.indexOf('/') >= 0) {
      throw S3Exception.invalidArgument(
          "The IndexDocument Suffix is not well formed", "IndexDocument", text);
    }
    return text;
  }

  private static @Nullable String errorKey(@Nullable Element document) throws S3Exception {
    if (document == null) {
      return null;
    }
    String key = document.required("Key");
    if (key.isEmpty()) {
      throw S3Exception.invalidArgument(
          "The ErrorDocument Key is not well formed", "ErrorDocument", key);
    }
    return key;
  }

  private static List<RoutingRule> rules(@Nullable Element list) throws S3Exception {
    List<RoutingRule> rules = new ArrayList<>();
    if (list == null) {
      return rules;
    }
    if (list.children().size() > RULES_MAX) {
      throw S3Exception.invalidRequest(
          list.children().size()
              + " routing rules provided, the number of routing rules in a website configuration"
              + " is limited to "
              + RULES_MAX
              + ".");
    }
    for (Element rule : list.children()) {
      if (!rule.name().equals("RoutingRule")) {
        throw malformed();
      }
      rules.add(rule(rule));
    }
    return rules;
  }

  private static RoutingRule rule(Element rule) throws S3Exception {
    Element redirect = rule.child("Redirect");
    if (redirect == null || redirect.children().isEmpty()) {
      throw malformed();
    }
    Element condition = rule.child("Condition");
    if (condition == null) {
      return new RoutingRule("", 0, redirect(redirect));
    }
    String prefix = condition.childText("KeyPrefixEquals");
    String error = condition.childText("HttpErrorCodeReturnedEquals");
    if (prefix == null && error == null) {
      throw S3Exception.invalidRequest(
          "Condition cannot be empty. To redirect all requests without a condition, the condition"
              + " element shouldn't be present.");
    }
    int status = error == null ? 0 : status(error, 400, 599);
    if (status < 0) {
      throw S3Exception.invalidRequest(
          "The provided HTTP error code (" + error + ") is not valid. Valid codes are 4XX or 5XX.");
    }
    return new RoutingRule(prefix == null ? "" : prefix, status, redirect(redirect));
  }

  private static Redirect redirect(Element redirect) throws S3Exception {
    String host = redirect.childText("HostName");
    String code = redirect.childText("HttpRedirectCode");
    int status = code == null ? 0 : status(code, 301, 399);
    if (status < 0) {
      throw S3Exception.invalidRequest(
          "The provided HTTP redirect code ("
              + code
              + ") is not valid. Valid codes are 3XX except 300.");
    }
    String protocol = protocol(redirect.childText("Protocol"));
    KeyChange keyChange =
        keyChange(redirect.childText("ReplaceKeyWith"), redirect.childText("ReplaceKeyPrefixWith"));
    boolean saysNothing = host == null && protocol == null && code == null;
    if (saysNothing && keyChange instanceof KeyChange.None) {
      throw malformed();
    }
    return new Redirect(protocol, host == null ? null : host(host), status, keyChange);
  }

  private static KeyChange keyChange(@Nullable String whole, @Nullable String prefix)
      throws S3Exception {
    if (whole != null && prefix != null) {
      throw S3Exception.invalidRequest(
          "You can only define ReplaceKeyPrefix or ReplaceKey but not both.");
    }
    if (whole != null) {
      return new KeyChange.Whole(whole);
    }
    return prefix == null ? new KeyChange.None() : new KeyChange.Prefix(prefix);
  }

  /** Negative: it is none of these. */
  private static int status(String text, int min, int max) {
    try {
      int status = Integer.parseInt(text.strip());
      return status >= min && status <= max ? status : -1;
    } catch (NumberFormatException e) {
      return -1;
    }
  }

  private static @Nullable String protocol(@Nullable String text) throws S3Exception {
    if (text == null || text.equals("http") || text.equals("https")) {
      return text;
    }
    throw S3Exception.invalidRequest(
        "Invalid protocol, protocol can be http or https. If not defined the protocol will be"
            + " selected automatically.");
  }

  private static String host(String text) throws S3Exception {
    if (!HOST.matcher(text).matches()) {
      throw S3Exception.invalidRequest("The HostName is not valid.");
    }
    return text;
  }

  private static S3Exception malformed() {
    return new S3Exception(S3Error.MALFORMED_XML);
  }

  public static byte[] write(Website website) {
    XmlWriter xml = new XmlWriter().openRoot(ROOT);
    switch (website) {
      case Website.Elsewhere elsewhere -> {
        xml.open("RedirectAllRequestsTo").optional("HostName", elsewhere.redirect().host());
        xml.optional("Protocol", elsewhere.redirect().protocol()).close();
      }
      case Website.Pages pages -> write(xml, pages);
    }
    return xml.close().toBytes();
  }

  private static void write(XmlWriter xml, Website.Pages pages) {
    xml.open("IndexDocument").element("Suffix", pages.indexSuffix()).close();
    if (pages.errorKey() != null) {
      xml.open("ErrorDocument").element("Key", pages.errorKey()).close();
    }
    if (pages.rules().isEmpty()) {
      return;
    }
    xml.open("RoutingRules");
    for (RoutingRule rule : pages.rules()) {
      xml.open("RoutingRule");
      write(xml, rule);
      xml.close();
    }
    xml.close();
  }

  private static void write(XmlWriter xml, RoutingRule rule) {
    if (!rule.prefix().isEmpty() || rule.errorStatus() > 0) {
      xml.open("Condition");
      if (rule.errorStatus() > 0) {
        xml.element("HttpErrorCodeReturnedEquals", rule.errorStatus());
      }
      xml.optional("KeyPrefixEquals", rule.prefix().isEmpty() ? null : rule.prefix()).close();
    }
    Redirect redirect = rule.redirect();
    xml.open("Redirect")
        .optional("HostName", redirect.host())
        .optional("HttpRedirectCode", redirect.code() == 0 ? null : "" + redirect.code())
        .optional("Protocol", redirect.protocol());
    switch (redirect.keyChange()) {
      case KeyChange.None none -> {
        // It stays.
      }
      case KeyChange.Whole whole -> xml.element("ReplaceKeyWith", whole.key());
      case KeyChange.Prefix prefix -> xml.element("ReplaceKeyPrefixWith", prefix.prefix());
    }
    xml.close();
  }
}
