-- In HTML, a table or a picture that is too wide scrolls in a box of its own, by the keyboard too.
-- It runs last, when captions stand outside of what they are of.

if not FORMAT:match("html") then
  return {}
end

local counts = { Table = 0, Figure = 0 }

local function scrolling(content, class, noun)
  counts[noun] = counts[noun] + 1
  local attributes = { class = class, role = "region", tabindex = "0" }
  attributes["aria-label"] = noun .. " " .. counts[noun]
  return pandoc.Div(content, attributes)
end

local function box_picture(block)
  if #block.content == 1 and block.content[1].t == "Image" then
    return scrolling({ pandoc.Plain(block.content) }, "picture", "Figure"), false
  end
end

return {
  {
    traverse = "topdown",
    Table = function(tbl)
      return scrolling({ tbl }, "scroll", "Table"), false
    end,
    Para = box_picture,
    Plain = box_picture,
  },
}
