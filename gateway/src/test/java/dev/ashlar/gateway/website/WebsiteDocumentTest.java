package dev.ashlar.gateway.website;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.ashlar.gateway.error.S3Exception;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class WebsiteDocumentTest {
  private static final String INDEX = "<IndexDocument><Suffix>index.html</Suffix></IndexDocument>";

  private static byte[] document(String content) {
    return ("<WebsiteConfiguration xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">"
            + content
            + "</WebsiteConfiguration>")
        .getBytes(StandardCharsets.UTF_8);
  }

  private static String rule(String content) {
    return INDEX + "<RoutingRules><RoutingRule>" + content + "</RoutingRule></RoutingRules>";
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "<RedirectAllRequestsTo><HostName>a.test</HostName></RedirectAllRequestsTo>",
        "<RedirectAllRequestsTo><HostName>a.test:81</HostName><Protocol>https</Protocol>"
            + "</RedirectAllRequestsTo>",
        INDEX,
        INDEX + "<ErrorDocument><Key>errors/e &amp; f.html</Key></ErrorDocument>",
        INDEX
            + "<RoutingRules><RoutingRule><Condition>"
            + "<HttpErrorCodeReturnedEquals>404</HttpErrorCodeReturnedEquals>"
            + "<KeyPrefixEquals>docs/</KeyPrefixEquals></Condition><Redirect>"
            + "<HostName>a.test</HostName><HttpRedirectCode>307</HttpRedirectCode>"
            + "<Protocol>https</Protocol><ReplaceKeyPrefixWith>new/</ReplaceKeyPrefixWith>"
            + "</Redirect></RoutingRule><RoutingRule><Redirect><ReplaceKeyWith>x</ReplaceKeyWith>"
            + "</Redirect></RoutingRule></RoutingRules>"
      })
  void whatIsWrittenIsWhatWasRead(String content) throws Exception {
    String written =
        new String(
            WebsiteDocument.write(WebsiteDocument.read(document(content))), StandardCharsets.UTF_8);
    String read = new String(document(content), StandardCharsets.UTF_8);
    assertEquals(read, written.substring(written.indexOf('\n') + 1));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "InvalidArgument|",
        "InvalidArgument|<ErrorDocument><Key>e</Key></ErrorDocument>",
        "MalformedXML|<IndexDocument/>",
        "InvalidArgument|<IndexDocument><Suffix/></IndexDocument>",
        "InvalidArgument|<IndexDocument><Suffix>a/b</Suffix></IndexDocument>",
        "InvalidRequest|<RedirectAllRequestsTo><HostName>a</HostName></RedirectAllRequestsTo>"
            + INDEX,
        "MalformedXML|<RedirectAllRequestsTo><Protocol>http</Protocol></RedirectAllRequestsTo>",
        "InvalidRequest|<RedirectAllRequestsTo><HostName>a</HostName><Protocol>ftp</Protocol>"
            + "</RedirectAllRequestsTo>",
        "InvalidRequest|<RedirectAllRequestsTo><HostName>a/b</HostName></RedirectAllRequestsTo>",
        "InvalidArgument|" + INDEX + "<ErrorDocument><Key/></ErrorDocument>"
      })
  void otherDocumentsAreRefused(String code, String content) {
    refused(code, content == null ? "" : content);
  }

  private static void refused(String code, String content) {
    S3Exception e = assertThrows(S3Exception.class, () -> WebsiteDocument.read(document(content)));
    assertEquals(code, e.error().code());
  }

  @ParameterizedTest
  @CsvSource({
    "MalformedXML, ''",
    "MalformedXML, <Redirect/>",
    "InvalidRequest, <Condition/><Redirect><HostName>a</HostName></Redirect>",
    "InvalidRequest, <Redirect><HttpRedirectCode>300</HttpRedirectCode></Redirect>",
    "InvalidRequest, <Redirect><HttpRedirectCode>200</HttpRedirectCode></Redirect>",
    "InvalidRequest, <Redirect><HttpRedirectCode>x</HttpRedirectCode></Redirect>",
    "InvalidRequest, <Redirect><HostName>a b</HostName></Redirect>",
    "InvalidRequest, <Redirect><Protocol>HTTP</Protocol></Redirect>",
    "MalformedXML, <Redirect><Hostname>a</Hostname></Redirect>",
    "InvalidRequest, <Redirect><ReplaceKeyWith>a</ReplaceKeyWith><ReplaceKeyPrefixWith>b</ReplaceKeyPrefixWith></Redirect>",
    "InvalidRequest, <Condition><HttpErrorCodeReturnedEquals>302</HttpErrorCodeReturnedEquals></Condition><Redirect><HostName>a</HostName></Redirect>"
  })
  void otherRulesAreRefused(String code, String content) {
    refused(code, rule(content));
  }

  @Test
  void aWebsiteHasAtMost50Rules() throws Exception {
    String one = "<RoutingRule><Redirect><HostName>a</HostName></Redirect></RoutingRule>";
    String most = INDEX + "<RoutingRules>" + one.repeat(50) + "</RoutingRules>";
    WebsiteDocument.read(document(most));
    refused("InvalidRequest", most.replace("</RoutingRules>", one + "</RoutingRules>"));
  }
}
