package dev.ashlar.gateway.xml;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.ashlar.gateway.error.S3Error;
import dev.ashlar.gateway.error.S3Exception;
import java.nio.charset.StandardCharsets;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.CharRange;
import net.jqwik.api.constraints.StringLength;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class XmlReaderTest {
  private static XmlReader.Element read(String document) throws S3Exception {
    return XmlReader.read(document.getBytes(StandardCharsets.UTF_8), "R");
  }

  @Test
  void readsNamesAndTexts() throws Exception {
    XmlReader.Element root =
        read(
            "<?xml version=\"1.0\"?><!-- c --><x:R xmlns:x='urn:x' a='1'><x:K>a<![CDATA[<b>]]>"
                + "&amp;&#65;&#x42;</x:K><K2/></x:R>");
    assertEquals("a<b>&AB", root.childText("K"));
    assertEquals("", root.childText("K2"));
    assertEquals(2, root.children().size());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        " ",
        "text",
        "<R>",
        "<R></Q>",
        "<Q/>",
        "<R/><R/>",
        "<R>&unknown;</R>",
        "<R>&#1;</R>",
        "<R><K>v &",
        "<R>&#x4",
        "<R><![CDATA[",
        "<R a=1/>",
        "<!DOCTYPE R><R/>",
        "<!DOCTYPE R [<!ENTITY e 'x'>]><R>&e;</R>",
        "<!DOCTYPE R SYSTEM 'file:///etc/passwd'><R/>",
        "<!DOCTYPE R [<!ENTITY e SYSTEM 'file:///etc/passwd'>]><R>&e;</R>",
        "<!DOCTYPE R [<!ENTITY % e SYSTEM 'http://127.0.0.1:1/'> %e;]><R/>",
      })
  void refusesUnsupportedXml(String document) {
    assertRefused(document);
  }

  @Test
  void refusesTheBillionLaughs() {
    StringBuilder document = new StringBuilder("<!DOCTYPE R [<!ENTITY l0 'ha'>");
    for (int i = 1; i < 10; i++) {
      document.append("<!ENTITY l").append(i).append(" '");
      document.append(("&l" + (i - 1) + ";").repeat(10)).append("'>");
    }
    assertRefused(document.append("]><R>&l9;</R>").toString());
  }

  @Test
  void refusesTooDeepOrTooLargeDocuments() {
    assertRefused("<R>" + "<a>".repeat(100_000) + "</R>");
    assertRefused("<R>" + "<a/>".repeat(300_000) + "</R>");
    assertRefused("<R>" + "a".repeat(1 << 20) + "</R>");
    assertRefused("<R a='" + "a".repeat(1 << 16) + "'/>");
  }

  private static void assertRefused(String document) {
    S3Exception refused = assertThrows(S3Exception.class, () -> read(document));
    assertEquals(S3Error.MALFORMED_XML, refused.error());
  }

  @Property
  void readsWhatIsWritten(
      @ForAll @StringLength(max = 300) @CharRange(from = ' ', to = '\ud7ff') String text)
      throws Exception {
    byte[] document = new XmlWriter().openRoot("R").element("T", text).close().toBytes();
    assertEquals(text, XmlReader.read(document, "R").childText("T"));
  }
}
