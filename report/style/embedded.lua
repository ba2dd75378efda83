-- What Quarto does itself, for Pandoc alone: numbered figures and tables with references that resolve,
-- callouts, alternative texts and parts for one format. Anything unresolved stops the rendering: a
-- report with "?" in it must not look finished.

local is_html = FORMAT:match("html") ~= nil
local NBSP = "\u{a0}"
local NOUNS = { fig = "Figure", tbl = "Table" }
local CALLOUTS = { note = "Note", tip = "Tip", important = "Important", warning = "Warning", caution = "Caution" }

local labels = {} -- id -> "Figure 3"
local counts = { fig = 0, tbl = 0 }

local function kind_of(id)
  return id:match("^(%l+)%-")
end

-- Remembers the label for references and returns the caption; on paper Typst puts the number before it.
local function numbered_caption(id, long)
  local kind = kind_of(id)
  if labels[id] then
    error("the id " .. id .. " is used twice")
  end
  counts[kind] = counts[kind] + 1
  labels[id] = NOUNS[kind] .. NBSP .. counts[kind]
  local inlines = pandoc.utils.blocks_to_inlines(long)
  if is_html then
    inlines:insert(1, pandoc.Space())
    inlines:insert(1, pandoc.Str(labels[id] .. "."))
  end
  return { pandoc.Plain(inlines) }
end

local function finish_figure(figure)
  if kind_of(figure.identifier) ~= "fig" then
    return nil
  end
  figure.caption = { long = numbered_caption(figure.identifier, figure.caption.long) }
  return figure:walk({
    Image = function(image)
      local alt = image.attributes["fig-alt"]
      if not alt then
        error("the figure " .. figure.identifier .. " has no fig-alt")
      end
      image.attributes["fig-alt"] = nil
      image.caption = { pandoc.Str(alt) } -- becomes the alt attribute
      return image
    end,
  }), false
end

local function finish_table(tbl)
  local id = tbl.identifier
  if kind_of(id) ~= "tbl" then
    error("a table has no #tbl- id: " .. pandoc.utils.stringify(tbl.caption.long))
  end
  local caption = numbered_caption(id, tbl.caption.long)
  if not is_html then
    tbl.caption = { long = caption }
    return tbl, false
  end
  tbl.caption = { long = {} }
  tbl.identifier = ""
  return pandoc.Div({ pandoc.Div(caption, { class = "caption" }), tbl }, pandoc.Attr(id, { "table-figure" })), false
end

local function finish_callout(div)
  local _, _, kind = table.concat(div.classes, " "):find("callout%-(%l+)")
  if not CALLOUTS[kind] then
    return nil
  end
  local title = pandoc.Para(pandoc.Strong(div.attributes.title or CALLOUTS[kind]))
  if is_html then
    div.content:insert(1, title)
    return pandoc.BlockQuote(div.content)
  end
  local blocks = pandoc.Blocks({ pandoc.RawBlock("typst", "#callout(title: ["), title })
  blocks:insert(pandoc.RawBlock("typst", "], body: ["))
  blocks:extend(div.content)
  blocks:insert(pandoc.RawBlock("typst", "])"))
  return blocks
end

local function resolve(cite)
  local inlines = pandoc.Inlines({})
  for index, citation in ipairs(cite.citations) do
    local label = labels[citation.id]
    if not label then
      error("the reference @" .. citation.id .. " points to nothing")
    end
    if index > 1 then
      inlines:extend({ pandoc.Str(","), pandoc.Space() })
    end
    inlines:insert(pandoc.Link({ pandoc.Str(label) }, "#" .. citation.id, "", { class = "ref" }))
  end
  return inlines
end

local function choose_format(span)
  if span.classes:includes("content-visible") then
    return span.attributes["when-format"] == "html" and is_html and span.content or {}
  end
end

function Pandoc(doc)
  doc = doc:walk({ traverse = "topdown", Figure = finish_figure, Table = finish_table, Div = finish_callout })
  return doc:walk({ Cite = resolve, Span = choose_format })
end
